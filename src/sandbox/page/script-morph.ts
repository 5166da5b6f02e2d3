/**
 * Brings what is shown in line with what was fetched, and leaves alone what is the same: focus, open details, typed text, playing audio.
 */
export const morphScript = String.raw`
function isSameKind(old, fresh) {
  return old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && !old.id && !fresh.id;
}

function morphChildren(parent, fresh) {
  const known = new Map();
  for (const child of parent.children) if (child.id !== '') known.set(child.id, child);
  let next = parent.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const keyed = wanted.id ? known.get(wanted.id) : undefined;
    if (keyed !== undefined && keyed.nodeName === wanted.nodeName) {
      if (keyed === next) next = next.nextSibling;
      else parent.insertBefore(keyed, next);
      morph(keyed, wanted);
    } else if (next !== null && isSameKind(next, wanted)) {
      const old = next;
      next = next.nextSibling;
      morph(old, wanted);
    } else parent.insertBefore(wanted, next);
  }
  while (next !== null) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name, value } of [...fresh.attributes])
    if (old.getAttribute(name) !== value && !isKept(old, name)) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !isKept(old, name)) old.removeAttribute(name);
  if (old.nodeName !== 'TEXTAREA') morphChildren(old, fresh);
}

/** What the viewer has done to it, and a recording that is being heard. */
function isKept(element, name) {
  if (name === 'open') return element.nodeName === 'DETAILS';
  return name === 'src' && element.nodeName === 'AUDIO' && !element.paused;
}

function show(markup) {
  const template = document.createElement('template');
  template.innerHTML = markup;
  writeTimes(template.content);
  const app = document.getElementById('app');
  const focused = document.activeElement;
  const wasInside = app.contains(focused);
  morphChildren(app, template.content);
  const main = document.getElementById('main');
  // Whoever stood on something that is gone goes on from the top of what is shown.
  if (wasInside && !focused.isConnected) main.focus({ preventScroll: true });
  document.title = main.dataset.title + ' · Sandbox';
  setClock();
  tick();
}
`;
