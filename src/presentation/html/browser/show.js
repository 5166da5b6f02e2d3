import { byId } from './dom.js';
import { setClock, tick, writeTimes } from './times.js';

/** What the viewer has written or chosen something in. */
const touched = new WeakSet();
document.addEventListener('input', ({ target }) => {
  if (target === null) return;
  touched.add(target);
  // Whoever chooses one leaves the others.
  if (!(target instanceof HTMLInputElement) || target.type !== 'radio') return;
  for (const other of target.form?.querySelectorAll(`input[type="radio"][name="${CSS.escape(target.name)}"]`) ?? []) touched.add(other);
});

/** What a form has sent is the server's from now on, unless the viewer has written on meanwhile. */
export function settle(/** @type {HTMLFormElement} */ form, /** @type {URLSearchParams} */ sent) {
  for (const element of form.elements) {
    const [name, value, type] = ['name', 'value', 'type'].map((key) => String(Reflect.get(element, key)));
    const isBox = type === 'checkbox' || type === 'radio';
    const isSent = sent.getAll(name ?? '').includes(value ?? '');
    if (isBox ? isSent === Reflect.get(element, 'checked') : isSent) touched.delete(element);
  }
}

/** Brings what is shown in line with what was fetched, and leaves the rest alone: focus, open details, typed text, playing audio. */
export function show(/** @type {string} */ markup) {
  const template = document.createElement('template');
  const app = byId('app');
  template.innerHTML = `<div id="app" class="${app.className}">${markup}</div>`;
  writeTimes(template.content);
  const focused = document.activeElement;
  const wasInside = app.contains(focused);
  Idiomorph.morph(app, template.innerHTML, {
    callbacks: {
      beforeAttributeUpdated: (name, element) => !isKept(name, element),
      // The example follows what is written; what is stored knows nothing of that yet.
      beforeNodeMorphed: (node) => !(node instanceof Element && node.id === 'example' && isTouched(document.forms.namedItem('form-words'))),
    },
  });
  const main = byId('main');
  // Whoever stood on something that is gone goes on from the top of what is shown.
  if (wasInside && focused?.isConnected === false) main.focus({ preventScroll: true });
  document.title = `${main.dataset.title} · ${document.title.split(' · ').at(-1)}`;
  setClock();
  tick();
}

function isTouched(/** @type {HTMLFormElement | null} */ form) {
  return [...(form?.elements ?? [])].some((each) => touched.has(each));
}

/** What the viewer has done to it, and a recording that is being heard. */
function isKept(/** @type {string} */ name, /** @type {Element} */ element) {
  if (name === 'open') return element.nodeName === 'DETAILS';
  // Text that was written over an older version is sent as that.
  if (element instanceof HTMLInputElement && element.name === 'version') return isTouched(element.form);
  if (name === 'src') return element instanceof HTMLAudioElement && !element.paused;
  return ['value', 'checked', 'selected'].includes(name) && touched.has(element.closest('select') ?? element);
}
