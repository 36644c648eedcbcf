// The only way markup comes about on this page: elements by name, and text that stays text.

/** Makes an element. Attributes go by name; "on..." is a listener; children are nodes or text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (key === 'class') {
      made.className = value;
    } else if (key.startsWith('on')) {
      made.addEventListener(key.slice(2), value);
    } else {
      made.setAttribute(key, value === true ? '' : String(value));
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Changes a text only when it differs: an untouched node costs no layout. */
export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

export function setAttribute(node, name, value) {
  if (value === null || value === undefined) {
    node.removeAttribute(name);
  } else if (node.getAttribute(name) !== value) {
    node.setAttribute(name, value);
  }
}

/**
 * Makes a parent's children follow a list, by key, keeping those that stay.
 * make(item) gives a new node, update(node, item) brings one up to date.
 */
export function follow(parent, items, keyOf, make, update) {
  const known = parent.ullageKeys ?? new Map();
  const next = new Map();
  let cursor = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const node = known.get(key) ?? make(item);
    known.delete(key);
    next.set(key, node);
    update(node, item);
    if (node === cursor) {
      cursor = cursor.nextElementSibling;
    } else {
      parent.insertBefore(node, cursor);
    }
  }
  for (const gone of known.values()) {
    gone.remove();
  }
  parent.ullageKeys = next;
}
