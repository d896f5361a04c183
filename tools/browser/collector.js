// Runs once in each frame's document and answers questions about its elements.
// The object it returns is held by the driver alone: the page has no name for it, and no attribute is written.
(() => {
  const CONTROLS = new Set(["A", "BUTTON", "INPUT", "SELECT", "TEXTAREA", "SUMMARY", "AREA"]);
  const ROLES = new Set(("button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton " +
    "menuitem menuitemcheckbox menuitemradio tab option treeitem gridcell").split(" "));
  const INPUT_ROLES = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", number: "spinbutton", search: "searchbox", file: "file",
  };
  const TAG_ROLES = { A: "link", AREA: "link", BUTTON: "button", SELECT: "combobox", TEXTAREA: "textbox", SUMMARY: "button" };
  const BUTTON_TYPES = /^(submit|button|reset|image)$/;
  const CHOICE_TYPES = /^(checkbox|radio)$/;
  const NO_VALUE_TYPES = /^(file|submit|button|reset|image|checkbox|radio|hidden)$/;
  const SECRET_HINTS = /(^|\s)(one-time-code|current-password|new-password|cc-(number|csc|exp|exp-month|exp-year))(\s|$)/;
  const SECRET_NAMES = /(^|[^a-z])(otp|totp|passcode|passwd|password|cvv2?|cvc2?|csc|card ?(number|no))([^a-z]|$)/;
  const VISIBLE = { opacityProperty: true, visibilityProperty: true };
  const NAME_LENGTH = 80, VALUE_LENGTH = 120, OPTION_LENGTH = 40, OPTIONS_SHOWN = 8, SMALLEST = 2;

  const ids = new WeakMap();
  const nodes = new Map();
  const adopted = new Set();
  let last = 0;

  const short = (text, length) => {
    const flat = (text || "").slice(0, 4000).replace(/\s+/g, " ").trim();
    return flat.length > length ? flat.slice(0, length - 1) + "…" : flat;
  };
  const idOf = (element) => {
    let id = ids.get(element);
    if (!id) {
      id = ++last;
      ids.set(element, id);
      nodes.set(id, new WeakRef(element));
      if (last % 5000 === 0) for (const [old, reference] of nodes) if (!reference.deref()) nodes.delete(old);
    }
    return id;
  };
  const get = (id) => {
    const element = nodes.get(id)?.deref();
    return element && element.isConnected ? element : null;
  };
  const attribute = (element, name) => element.getAttribute(name) || "";
  const isField = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);

  // A field whose content must never be read: it is told by its type, its hints or its name.
  const isSecret = (element) => {
    if (element.tagName !== "INPUT" && element.tagName !== "TEXTAREA") return false;
    if (element.type === "password" || SECRET_HINTS.test(attribute(element, "autocomplete").toLowerCase())) return true;
    const masked = getComputedStyle(element).webkitTextSecurity;
    if (masked && masked !== "none") return true;
    const names = (attribute(element, "name") + " " + element.id).replace(/([a-z])([A-Z])/g, "$1 $2");
    return SECRET_NAMES.test(names.toLowerCase().replace(/[_\-.\[\]]+/g, " "));
  };

  const labelText = (element) => {
    let text = "";
    for (const label of element.labels || []) {
      for (const node of label.childNodes) {
        if (node !== element && !node.contains(element)) text += " " + node.textContent;
      }
    }
    return text;
  };
  const namedBy = (element) => {
    const root = element.getRootNode();
    const found = attribute(element, "aria-labelledby").split(/\s+/).filter(Boolean)
      .map((id) => root.getElementById && root.getElementById(id)).filter(Boolean);
    return found.map((node) => node.textContent).join(" ");
  };
  const ownText = (element) => {
    const tag = element.tagName;
    if (tag === "INPUT" && BUTTON_TYPES.test(element.type)) return element.value || element.alt || element.type;
    if (isField(element)) return element.placeholder || element.title || element.name;
    if (tag === "AREA" || tag === "IMG") return element.alt || element.title;
    const image = element.querySelector("img[alt], svg title");
    return short(element.innerText || element.textContent, NAME_LENGTH) || element.title ||
      (image && (image.alt || image.textContent));
  };
  const nameOf = (element) => {
    for (const text of [attribute(element, "aria-label"), namedBy(element), labelText(element)]) {
      if (text.trim()) return short(text, NAME_LENGTH);
    }
    return short(ownText(element), NAME_LENGTH);
  };
  const roleOf = (element) => {
    const given = attribute(element, "role").split(" ")[0];
    if (given) return given;
    if (element.tagName === "INPUT") return INPUT_ROLES[element.type] || "textbox";
    return TAG_ROLES[element.tagName] || (element.isContentEditable ? "textbox" : "generic");
  };
  const labelOf = (element) => {
    const tag = element.tagName.toLowerCase();
    if (tag === "input") return element.type === "text" ? tag : tag + ":" + element.type;
    if (CONTROLS.has(element.tagName)) return tag;
    return attribute(element, "role").split(" ")[0] || (element.isContentEditable ? "editable" : tag);
  };
  // Digits are masked: a counter in a button's text does not make it another button.
  const fingerprint = (element) => [labelOf(element), roleOf(element), nameOf(element).replace(/\d+/g, "#")].join("|");

  const takesInput = (element, style, parentStyle) => {
    const tag = element.tagName;
    if (tag === "HTML" || tag === "BODY") return false;
    if (CONTROLS.has(tag)) {
      if (tag === "A") return element.hasAttribute("href") || !!element.onclick || style.cursor === "pointer";
      return !(tag === "INPUT" && element.type === "hidden");
    }
    if (ROLES.has(attribute(element, "role"))) return true;
    if (element.isContentEditable) return !(element.parentElement && element.parentElement.isContentEditable);
    if (element.onclick || element.ondblclick || element.oncontextmenu || element.onmousedown) return true;
    if (element.draggable && tag !== "IMG") return true;
    if (element.hasAttribute("tabindex") && element.tabIndex >= 0) return true;
    return style.cursor === "pointer" && !!parentStyle && parentStyle.cursor !== "pointer";
  };

  // The topmost element at a point, through open shadow roots; true when it belongs to `element`.
  const hit = (element, x, y) => {
    // A closed root is only known from the inside.
    const roots = new Map();
    for (let root = element.getRootNode(); root.host; root = root.host.getRootNode()) roots.set(root.host, root);
    let node = document.elementFromPoint(x, y);
    for (;;) {
      const root = node && (node.shadowRoot || roots.get(node));
      const inner = root && root.elementFromPoint(x, y);
      if (!inner || inner === node) break;
      node = inner;
    }
    if (!node || element.tagName === "AREA") return true;
    for (let up = node; up; up = up.parentNode || up.host) if (up === element) return true;
    for (const label of element.labels || []) if (label.contains(node)) return true;
    return node;
  };
  const coverOf = (element, box) => {
    const x = Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1);
    const y = Math.min(Math.max(box.top + box.height / 2, 1), innerHeight - 1);
    const top = hit(element, x, y);
    if (top === true) return "";
    return short(top.tagName.toLowerCase() + (top.id ? "#" + top.id : "") + " " + short(top.innerText, 30), 60);
  };

  // Where an element is drawn: an image map's area lies on its image, a hidden checkbox is used through its label.
  const placeOf = (element) => {
    let box = element.getBoundingClientRect(), shown = element, visible = element.checkVisibility(VISIBLE);
    if (element.tagName === "AREA") {
      const map = element.closest("map");
      const image = map && element.getRootNode().querySelector('img[usemap="#' + CSS.escape(map.name) + '"]');
      if (image) { box = image.getBoundingClientRect(); visible = image.checkVisibility(VISIBLE); }
      return { box, shown, visible };
    }
    const hidden = !visible || box.width <= SMALLEST || box.height <= SMALLEST;
    const label = element.labels && element.labels[0];
    if (hidden && label && /^(checkbox|radio|file)$/.test(element.type) && label.checkVisibility(VISIBLE)) {
      box = label.getBoundingClientRect(); shown = label; visible = true;
    }
    return { box, shown, visible };
  };
  const isClipped = (element) => {
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement) {
      if (getComputedStyle(up).overflow !== "hidden") continue;
      const box = up.getBoundingClientRect();
      if (box.width < SMALLEST || box.height < SMALLEST) return true;
    }
    return false;
  };
  const isOff = (element) =>
    element.disabled || attribute(element, "aria-disabled") === "true" || !!element.closest("[inert]");

  const stateOf = (element) => {
    const state = {};
    const checked = attribute(element, "aria-checked"), expanded = attribute(element, "aria-expanded");
    if (element.tagName === "INPUT" && CHOICE_TYPES.test(element.type)) state.checked = element.checked;
    else if (checked) state.checked = checked === "true";
    if (expanded) state.expanded = expanded === "true";
    if (attribute(element, "aria-selected") === "true") state.selected = true;
    if (element.required) state.required = true;
    if (element.readOnly) state.readonly = true;
    if (!isField(element)) return state;
    if (isSecret(element)) state.secret = true;
    else if (!NO_VALUE_TYPES.test(element.type) && element.tagName !== "SELECT") state.value = short(element.value, VALUE_LENGTH);
    if (element.tagName === "SELECT") {
      state.options = [...element.options].slice(0, OPTIONS_SHOWN).map((o) => (o.selected ? "*" : "") + short(o.text, OPTION_LENGTH));
      state.moreOptions = Math.max(0, element.options.length - OPTIONS_SHOWN);
      state.value = short([...element.selectedOptions].map((o) => o.text).join(", "), VALUE_LENGTH);
    }
    return state;
  };

  // What a list needs to know of an element, or null when nobody can use it now.
  const describe = (element) => {
    if (isOff(element)) return null;
    const isFile = element.tagName === "INPUT" && element.type === "file";
    const { box, shown, visible } = placeOf(element);
    if (!isFile) {
      if (!visible || box.width < SMALLEST || box.height < SMALLEST) return null;
      if (getComputedStyle(element).pointerEvents === "none") return null;
      if (box.right + scrollX <= 0 || box.bottom + scrollY <= 0 || isClipped(element)) return null;
    }
    const inView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return {
      id: idOf(element), tag: element.tagName.toLowerCase(), label: labelOf(element), role: roleOf(element),
      name: nameOf(element), fingerprint: fingerprint(element), inView,
      box: [box.x, box.y, box.width, box.height].map(Math.round),
      cover: inView && visible ? coverOf(shown, box) : "",
      mark: (element.dataset && element.dataset.t) || "", ...stateOf(element),
    };
  };

  const isNear = (element, margin) => {
    if (element.type === "file" || element.tagName === "AREA") return true;
    const box = element.getBoundingClientRect();
    return box.bottom > -margin && box.top < innerHeight + margin;
  };

  const text = (limit) => (document.body ? document.body.innerText : "").slice(0, limit);

  // Everything that takes input within `margin` pixels of the viewport.
  const scan = ({ margin, timeMs, maxNodes, textLength }) => {
    const started = performance.now(), found = [];
    let seen = 0, total = 0, cut = false;
    const late = () => (seen & 127) === 0 && performance.now() - started > timeMs;
    const listed = new Set();
    const wanted = (element) => {
      if (adopted.has(element)) return true;
      const parent = element.parentElement;
      return takesInput(element, getComputedStyle(element), parent && getComputedStyle(parent));
    };
    const consider = (element) => {
      if (listed.has(element) || !wanted(element)) return;
      listed.add(element);
      total++;
      const described = isNear(element, margin) ? describe(element) : null;
      if (described) found.push(described);
    };
    const walk = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
      while (!cut && walker.nextNode()) {
        const element = walker.currentNode;
        seen++;
        if (seen > maxNodes || late()) { cut = true; return; }
        if (element.shadowRoot) walk(element.shadowRoot);
        consider(element);
      }
    };
    walk(document);
    for (const element of adopted) {
      if (element.isConnected) consider(element);
      else adopted.delete(element);
    }
    const page = document.scrollingElement || document.documentElement;
    return {
      found, seen, total, cut, title: document.title, text: text(textLength),
      scroll: [Math.round(scrollY), innerHeight, page ? page.scrollHeight : 0],
    };
  };

  // Elements another engine found: they get ids here, and later scans list them like any other.
  const adopt = (key) => {
    const given = [...(globalThis[key] || [])].filter((element) => element && element.nodeType === 1);
    delete globalThis[key];
    return given.map((element) => {
      adopted.add(element);
      return describe(element);
    });
  };

  const controlOf = (element) => element.closest("button, input, select, textarea, a[href], area[href]") || element;
  const submits = (element) =>
    !!element.form && /^(submit|image)$/.test(element.type) && /^(BUTTON|INPUT)$/.test(element.tagName);
  // What Enter does while the element has the focus.
  const submitsOnEnter = (element) =>
    submits(element) || (element.tagName === "INPUT" && !!element.form && !BUTTON_TYPES.test(element.type));

  const factsOf = (element) => {
    const control = controlOf(element);
    const link = element.closest("a[href], area[href]");
    const form = control.form;
    return {
      role: roleOf(element), name: nameOf(element), tag: element.tagName.toLowerCase(),
      type: control.type || "", href: link ? String(link.href) : "", submits: submits(control),
      submitsOnEnter: submitsOnEnter(control), secret: isSecret(control), fingerprint: fingerprint(element),
      formAction: form ? attribute(form, "action") : "",
      formMethod: form ? attribute(control, "formmethod") || attribute(form, "method") || "get" : "",
      origin: location.origin,
    };
  };
  const facts = (id) => {
    const element = get(id);
    return element ? factsOf(element) : null;
  };
  const focusFacts = () => {
    let element = document.activeElement;
    while (element && element.shadowRoot && element.shadowRoot.activeElement) element = element.shadowRoot.activeElement;
    return element && element !== document.body ? factsOf(element) : null;
  };
  const whole = (id) => {
    const element = get(id);
    if (!element) return null;
    const options = element.tagName === "SELECT" ? [...element.options].slice(0, 500).map((o) => (o.selected ? "*" : "") + short(o.text, 200)) : [];
    const text = isField(element) ? (isSecret(element) ? "" : element.value) : element.innerText || element.textContent;
    return { ...factsOf(element), text: (text || "").slice(0, 20000), options };
  };

  return {
    scan, adopt, get, facts, focusFacts, whole, text,
    fingerprint: (id) => { const element = get(id); return element ? fingerprint(element) : null; },
  };
})()
