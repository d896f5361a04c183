"""Words on buttons and links whose press may send, buy, delete or authorise something."""

import re
import unicodedata
from typing import Final

_LATIN: Final = """
accept|agree|allow|apply|approve|authori[sz]e|bid|book|buy|cancel (?:my )?(?:account|subscription|order|plan)|checkout
|check out|close (?:my )?account|comment|complete|confirm|connect|consent|deactivate|delete|delegate|deploy|destroy
|disable|discard|donate|enable|enrol+|erase|finali[sz]e|finish|grant|install|invite|join|log ?in|merge|order|pay|permit
|place (?:an? |my )?order|post|proceed|publish|purchase|register|reject|release|remove|reply|report|reserve|reset|revoke
|save|send|share|sign|sign ?(?:in|up)|submit|subscribe|sell|terminate|transfer|trash|trust|tweet|uninstall|unsubscribe
|upgrade|upload|verify|withdraw|wipe|yes
|absenden|bestellen|bestätigen|bezahlen|einreichen|entfernen|erlauben|freigeben|kaufen|kündigen|löschen|senden|speichern
|überweisen|veröffentlichen|zulassen|zustimmen
|acheter|accepter|autoriser|commander|confirmer|effacer|envoyer|payer|publier|soumettre|supprimer|valider|virement
|aceptar|autorizar|borrar|comprar|confirmar|eliminar|enviar|pagar|permitir|publicar|suprimir|transferir
|acquista|autorizza|cancella|conferma|elimina|invia|paga|pubblica|ordina|aceitar|apagar|excluir
|отправить|удалить|купить|оплатить|подтвердить|разрешить|опубликовать|заказать
"""
_IDEOGRAPHIC: Final = """
提交|发送|發送|发布|發佈|發布|发表|發表|购买|購買|支付|付款|下单|下單|结算|結算|删除|刪除|移除|注销|註銷|确认|確認|授权|授權|允许|允許|同意
|转账|轉帳|订阅|訂閱|预订|預訂|捐款|签署|簽署|注册|註冊|登录|登入|保存|上传|上傳|清空|是的
|送信|投稿|公開|購入|注文|支払|削除|消去|退会|解約|承認|許可|確定|申し込|登録|予約|振込|同意する|ログイン|保存
|제출|전송|보내기|게시|구매|결제|주문|삭제|탈퇴|확인|승인|허용|동의|등록|예약|송금|로그인|저장
"""
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_FINAL: Final = re.compile(
    r"(?<!\w)(?:" + _LATIN.replace("\n", "") + r")(?!\w)|" + _IDEOGRAPHIC.replace("\n", "")
)
_SPACED: Final = re.compile(r"(?<!\w)(?:\w ){2,}\w(?!\w)")


def is_final_name(name: str) -> bool:
    """Return whether the name of a control says that pressing it may be final.

    Args:
        name: Accessible name, in any of the languages known here.
    """
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", name)).casefold()
    plain = plain.replace("-", " ").replace("_", " ")
    plain = _SPACED.sub(lambda found: found.group().replace(" ", ""), plain)
    plain = " ".join(plain.split())
    return _FINAL.search(plain) is not None
