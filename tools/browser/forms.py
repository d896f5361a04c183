"""The browser's actions as plain tools, for models that cannot handle one tool with many fields."""

from core.messages import ToolForm

BROWSER_FORMS = (
    ToolForm(
        name="browser_open",
        description="open a web page in the browser; shows its elements, each with its number `ref`.",
        fields={"url": "url"},
        fixed={"action": "go_to"},
        needs_address=True,
    ),
    ToolForm(
        name="browser_type",
        description="type text into the field with the number `ref`.",
        fields={"ref": "ref", "text": "text"},
        fixed={"action": "type"},
        needs_address=True,
        after="browser_open",
    ),
    ToolForm(
        name="browser_select",
        description="choose an option of the list with the number `ref`.",
        fields={"ref": "ref", "option": "text"},
        fixed={"action": "select_option"},
        needs_address=True,
        after="browser_open",
    ),
    ToolForm(
        name="browser_click",
        description="click the element with the number `ref`.",
        fields={"ref": "ref"},
        fixed={"action": "click"},
        needs_address=True,
        after="browser_open",
    ),
    ToolForm(
        name="browser_text",
        description="read the text of the page that is open.",
        fields={},
        fixed={"action": "read_text"},
        looks=True,
        needs_address=True,
        after="browser_open",
    ),
)
