"""What model servers write when they refuse a request: patterns over their messages, English and Chinese.

Written from public reports of what OpenAI, Azure, Anthropic, Gemini, Bedrock, Mistral, DeepSeek, DashScope, Kimi, GLM,
MiniMax, xAI, Groq, OpenRouter, Together, vLLM, SGLang, TGI, llama.cpp, LM Studio and Ollama answer.
"""

import re

_I = re.IGNORECASE


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _I)


THROTTLED = _any(
    r"throttl",
    r"rate.?limit",
    r"too many requests",
    r"too many concurrent",
    r"slow down",
    r"overloaded",
    r"please (?:wait|try again later|retry)",
    r"try again in \d",
    r"tokens per (?:minute|day|hour)",
    r"requests per (?:minute|day|hour)",
    r"server (?:is )?busy",
    r"at capacity",
    r"请求(?:过于)?频繁|限流|速率限制|并发(?:数|请求)?(?:超|过)|请稍后(?:再|重)试|服务(?:器)?繁忙|访问量过大",
)
"""The server wants to be asked later; never a reason to shorten the history."""

MONEY_GONE = _any(
    r"insufficient (?:balance|credit|fund|account)",
    r"credit balance is too low",
    r"(?:out of|no|not enough|run out of) credits",
    r"account (?:is )?in arrears|overdue[ -]payment|arrearage",
    r"billing (?:hard )?limit",
    r"余额不足|欠费|账户已停用|额度(?:已)?用(?:完|尽)|资源包.{0,8}(?:用尽|耗尽)",
)
MONEY_CODES = _any(r"quota", r"billing", r"balance", r"credit", r"arrear", r"payment", r"\b1113\b")
"""In a code or type; the same words in a message may mean a limit that passes."""

OVERFLOW = _any(
    r"context[_ ](?:length|window|size)[_ ]?(?:is |was )?(?:exceed|overflow|too)",
    r"exceed\w*[^.]{0,60}\bcontext",
    r"maximum (?:context|prompt|input|sequence|model)[ _-]?(?:context )?(?:length|size|token)",
    r"max(?:imum)? (?:number of |allowed )*(?:input |prompt |context )+(?:length|tokens?|size)",
    r"(?:prompt|input|request|conversation|history|messages?)\b[^.]{0,40} too (?:long|large|many tokens)",
    r"(?:input|prompt|context|sequence)s?[ _]?(?:length|size|tokens?)\b[^.]{0,60}"
    r"\b(?:exceed|larger|greater|longer|more than|over|less than|at most)",
    r"max_?(?:seq|model|context|input)_?len(?:gth)?\b",
    r"(?:input|prompt|request(?:ed)?)[^.]{0,40}\btokens?\b[^.]{0,60}\b(?:exceed|larger|greater|longer|more than|over)",
    r"(?:exceed|larger than|greater than|longer than|more than|over)\w*[^.]{0,60}\b(?:model )?token limit",
    r"exceed\w*[^.]{0,40}\b(?:maximum|max|allowed|limit)[^.]{0,40}\b(?:input|prompt|context|tokens? allowed)",
    r"range of input length should be",
    r"tokens to keep from the initial prompt",
    r"context the overflows|context (?:window )?overflow",
    r"reduce the length of (?:the |your )?(?:messages?|prompt|input|conversation)",
    r"(?:decoder |input )?prompt[^.]{0,40} (?:is )?longer than",
    r"input is too long",
    r"inputs?`? (?:tokens?|must have less than)[^.]{0,60}\d",
    r"max_new_tokens`? must be <=",
    r"too many (?:input |prompt )?tokens",
    r"token count[^.]{0,40}exceed",
    r"(?:context window|context) is full",
    r"(?:number of|total|length of the)[^.]{0,30}\b(?:tokens?|prompt|input|messages?)\b[^.]{0,40}exceed",
    r"exceeds? (?:the )?max(?:imum)? (?:number of )?(?:input )?tokens|maximum (?:input )?tokens exceeded",
    r"too large for (?:the )?model",
    r"string_above_max_length|tokens_limit_reached|context_length_exceeded|exceed_context_size|model_max_prompt",
    r"(?:上下文|输入|提示词?|请求|文本|消息|prompt|tokens?).{0,16}(?:超出|超过|过长|超长|太长|超限)",
    r"(?:超出|超过)了?.{0,12}(?:上下文|最大.{0,6}长度|长度限制|token)",
)
NO_OVERFLOW = _any(
    r"max_(?:completion_|output_)?tokens[^.]{0,30}(?:too large|at most|must be|invalid|exceeds)",
    r"supports at most \d+ completion tokens",
)
"""The wish for the longest answer is too large, not the request."""
TOO_LARGE = _any(
    r"request entity too large|payload too large|request_too_large|body too large|请求体过大"
)

HISTORY = _any(
    r"parse (?:the )?tool.?call arguments",
    r"tool_calls?'? must be followed by tool messages|did not have response messages",
    r"must be a response to a prece\w* message with '?tool_calls",
    r"tool_(?:use|call)_?ids? .{0,40}(?:not found|without|unexpected|mismatch|did not)",
    r"unexpected `?tool_(?:use_id|result)",
    r"expected last role",
    r"function call turn comes immediately after",
    r"number of function response parts",
    r"reasoning_content.{0,60}(?:must be|missing|passed back)",
    r"messages?[^.]{0,30}(?:illegal|invalid) (?:role|order)|messages 参数非法",
)
"""A message we sent earlier cannot be read; sending it again cannot help."""

NO_TOOLS = _any(
    r"(?:does not|doesn't|not) support (?:tools?\b|tool (?:use|call)|function)",
    r"(?:tools?|tool (?:use|calling)|function calling) (?:is |are )?not (?:supported|available|enabled)",
    r"(?:unsupported|unknown|unrecognized)[^.]{0,30}['\"`](?:tools|functions)['\"`]",
    r"no endpoints found that support tool",
    r"requires? --enable-auto-tool-choice",
    r"不支持(?:工具|函数)",
)
NO_IMAGES = _any(
    r"image(?:s| input|_url)?[^.]{0,40}not (?:supported|available|allowed|enabled|permitted)",
    r"(?:does not|doesn't|not|cannot|can't) (?:support|accept|process|handle|take)[^.]{0,40}"
    r"(?:image|vision|multimodal|picture)",
    r"image(?:_url|s)? (?:is|are) only (?:supported|available|allowed)",
    r"at most 0 images?|required for image input|invalid image|no vision",
    r"content[^.]{0,80}(?:must be|should be|expected|has to be) (?:a |an )?(?:valid )?string",
    r"content\.type 参数非法",
    r"unknown variant `?image_url",
    r"mmproj",
    r"only (?:support|accept)s? text",
    r"no endpoints found that support image",
    r"not a (?:multimodal|vision) model",
    r"不支持(?:图片|图像|视觉)",
)
REFUSED_PARAMETER = _any(
    r"unsupported (?:parameter|value|argument|field)",
    r"not supported|isn't supported|unsupported",
    r"does not support|doesn't support",
    r"unrecognized|unknown (?:parameter|name|field|argument|variant)|unexpected (?:keyword|field|argument)",
    r"extra (?:inputs|fields) (?:are )?not permitted|additional properties are not allowed|extra_forbidden",
    r"invalid (?:parameter|argument|field)\b|input should be|cannot find field",
    r"not allowed|not permitted|not available|not enabled|unavailable|deprecated",
    r"only (?:the )?(?:default|\d+(?:\.\d+)?)\b[^.]{0,20}(?:is|are) (?:allowed|supported|accepted|available)",
    r"(?:must|should) be (?:absent|omitted|unset|removed)|cannot be (?:used|set|specified)",
    r"不支持|未知参数|非法参数|参数非法",
)
NO_KEY = _any(
    r"(?:incorrect|invalid|missing|wrong|expired|revoked|no) (?:\w+ )?(?:api|access|auth\w*)[ _-]?(?:key|token)",
    r"api[ _-]?key (?:is |not )?(?:invalid|valid|missing|expired|required|found|incorrect)",
    r"invalid_api_key|authentication (?:fails?|failed|error|required)|unauthori[sz]ed",
    r"invalid (?:bearer|authentication)",
    r"令牌(?:无效|已过期|不正确)|身份(?:验证|认证)失败|api key 无效",
)
NO_MODEL = _any(
    r"model(?:[^.]|\.(?=\S)){0,80}(?:not found|not exist|doesn't exist|is not (?:available|supported|a valid)|unknown)",
    r"(?:unknown|invalid|no such|unsupported|unrecognized|not a valid) model",
    r"model_not_found|model_not_exist|invalid_model|not a valid model id|model not (?:loaded|available)",
    r"no (?:endpoints|models) (?:found for|loaded|available)",
    r"does not have access to (?:the )?model|try pulling it",
    r"模型.{0,20}(?:不存在|未找到|未开通|不可用)",
)
SERVER_REFUSED = _any(
    r"\d+ validation errors?|validationerror|pydantic|jinja|chat template|template error"
)
"""A permanent refusal that some servers dress as a 5xx."""

WINDOW = (
    re.compile(
        r"maximum (?:context|prompt|input|model)[ _-]?(?:context )?(?:length|size) (?:is|of|:)? ?([\d,_]{3,})",
        _I,
    ),
    re.compile(r"context (?:size|window|length)(?: limit)?[^\d.]{0,24}([\d,_]{3,})", _I),
    re.compile(r"with ([\d,_]{3,}) maximum context", _I),
    re.compile(r"\d(?: tokens)? ?> ?([\d,_]{3,})", _I),
    re.compile(r"tokens allowed[^\d.]{0,6}([\d,_]{3,})", _I),
    re.compile(r"token limit[^\d.]{0,6}([\d,_]{3,})", _I),
    re.compile(r"input length should be \[\d+, ?([\d,_]{3,})\]", _I),
    re.compile(r"maximum (?:allowed )?(?:input|prompt) length (?:of|is) ([\d,_]{3,})", _I),
    re.compile(r"limit (?:of|is) ([\d,_]{3,})", _I),
    re.compile(r"model's max\w*[^\d.]{0,24}([\d,_]{3,})", _I),
    re.compile(r"max(?:imum)? (?:number of )?tokens? (?:limit )?\(?([\d,_]{3,})", _I),
    re.compile(r"must be <= ([\d,_]{3,})", _I),
    re.compile(r"max_(?:seq|model|context|input)_len(?:gth)?[^\d.]{0,8}([\d,_]{3,})", _I),
    re.compile(r"maximum length (?:of |is )?([\d,_]{3,})", _I),
    re.compile(r"(?:supports?|accepts?|allows?) (?:at most|up to|only) ([\d,_]{3,}) tokens", _I),
    re.compile(r"(?:最大|最多|上限|限制)[^\d]{0,16}([\d,_]{3,})"),
    re.compile(r"must have less than ([\d,_]{3,}) tokens", _I),
)
"""Where an overflow message says how large the window is."""
_SPAN = (
    r"\d+(?:\.\d+)?\s?(?:ms|milliseconds?|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])"
)
WAIT = re.compile(
    rf"(?:try again|retry|wait|retryDelay\"?:)[^.\d]{{0,20}}((?:{_SPAN}[\s,]{{0,2}})+)"
    r"|(\d+(?:\.\d+)?\s?(?:毫秒|秒|分钟?|小时))[之以]?后",
    _I,
)
"""Where a throttling message says how long to wait: one or more numbers with their units."""
