import { byId } from './dom.js';
import { setClock, tick, writeTimes } from './times.js';

/** Brings what is shown in line with what was fetched, and leaves the rest alone: focus, open details, typed text, playing audio. */
export function show(/** @type {string} */ markup) {
  const template = document.createElement('template');
  template.innerHTML = markup;
  writeTimes(template.content);
  const app = byId('app');
  const focused = document.activeElement;
  const wasInside = app.contains(focused);
  morphChildren(app, template.content);
  const main = byId('main');
  // Whoever stood on something that is gone goes on from the top of what is shown.
  if (wasInside && focused?.isConnected === false) main.focus({ preventScroll: true });
  document.title = `${main.dataset.title} · Sandbox`;
  setClock();
  tick();
}

function morphChildren(/** @type {ParentNode} */ parent, /** @type {ParentNode} */ fresh) {
  const known = new Map([...parent.children].map((child) => [child.id, child]));
  let next = parent.firstChild;
  for (const wanted of Array.from(fresh.childNodes)) {
    const id = idOf(wanted);
    const keyed = id === '' ? undefined : known.get(id);
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

function isSameKind(/** @type {Node} */ old, /** @type {Node} */ fresh) {
  return old.nodeName === fresh.nodeName && idOf(old) === '' && idOf(fresh) === '';
}

function idOf(/** @type {Node} */ node) {
  return node instanceof Element ? node.id : '';
}

function morph(/** @type {Node} */ old, /** @type {Node} */ fresh) {
  if (!(old instanceof Element && fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !isKept(old, name)) old.setAttribute(name, value);
  for (const name of old.getAttributeNames())
    if (!fresh.hasAttribute(name) && !isKept(old, name)) old.removeAttribute(name);
  if (old.nodeName !== 'TEXTAREA') morphChildren(old, fresh);
}

/** What the viewer has done to it, and a recording that is being heard. */
function isKept(/** @type {Element} */ element, /** @type {string} */ name) {
  if (name === 'open') return element.nodeName === 'DETAILS';
  return name === 'src' && element instanceof HTMLAudioElement && !element.paused;
}
