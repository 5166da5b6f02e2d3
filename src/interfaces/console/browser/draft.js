/* A new campaign: a list is dropped where it is chosen, and what is changed is saved at once. Without this, both are done by buttons. */

import { byId, notify } from './dom.js';
import { askPart } from './keep.js';
import { settle, show } from './show.js';

const exampleAfterMs = 300;
/** What would happen is told no more often than somebody can hear it. */
const leastMs = 2000;

/** What the page of a draft does while somebody works on it; nothing on any other page. */
export function startDraft() {
  for (const place of document.querySelectorAll('.drop')) if (place instanceof HTMLElement) takeDrops(place);
  const path = document.getElementById('make')?.dataset.draft;
  if (path !== undefined) followDraft(path);
}

function takeDrops(/** @type {HTMLElement} */ place) {
  const input = place.querySelector('input[type="file"]');
  const said = place.querySelector('.error');
  if (!(input instanceof HTMLInputElement) || said === null) return;
  const most = Number(place.dataset.most);
  const send = () => {
    const isTooLarge = Number(input.files?.[0]?.size) > most;
    said.textContent = isTooLarge ? `This file is larger than ${most / 1e6} MB: start it with carillon start, or send it to the API.` : '';
    input.setCustomValidity(said.textContent);
    input.toggleAttribute('aria-invalid', isTooLarge);
    if (!isTooLarge && input.files?.length === 1) input.form?.requestSubmit();
  };
  for (const type of /** @type {const} */ (['dragover', 'dragleave', 'drop']))
    place.addEventListener(type, (event) => {
      event.preventDefault();
      place.classList.toggle('over', type === 'dragover');
      if (type !== 'drop' || !event.dataTransfer?.files.length) return;
      input.files = event.dataTransfer.files;
      send();
    });
  input.addEventListener('change', send);
  input.form?.addEventListener('submit', () => {
    const button = input.form?.querySelector('button');
    if (button instanceof HTMLButtonElement) button.textContent = 'Uploading …';
  });
}

/** Saves what is changed, one after the other, and shows what follows from it. */
function followDraft(/** @type {string} */ path) {
  let saving = 0;
  let saves = 0;
  let last = Promise.resolve();
  /** @type {number | undefined} */
  let timer;
  let shownAt = -Infinity;

  const take = (/** @type {string} */ markup) => {
    clearTimeout(timer);
    const wait = Math.max(0, leastMs - (performance.now() - shownAt));
    timer = setTimeout(() => {
      shownAt = performance.now();
      show(markup);
      lookLater();
    }, wait);
  };
  const lookLater = () => {
    const again = Number(document.getElementById('make')?.dataset.again);
    if (again > 0) timer = setTimeout(() => void look(), again);
  };
  const look = async () => {
    const before = saves;
    const answer = await askPart(path).catch(() => null);
    const text = (await answer?.text()) ?? '';
    // What was asked for before a save shows what was stored before it, in an older version.
    if (answer?.ok && saving === 0 && saves === before) take(text);
  };
  const save = (/** @type {HTMLFormElement} */ form) => {
    const sent = fieldsOf(form);
    // What was answered before knows nothing of this.
    clearTimeout(timer);
    saving += 1;
    saves += 1;
    last = last
      .then(() => send(form, sent))
      .catch(() => notify('Not saved: the server did not take it. Change it again, or reload the page.', true))
      .finally(() => {
        saving -= 1;
      });
  };
  const send = async (/** @type {HTMLFormElement} */ form, /** @type {URLSearchParams} */ body) => {
    const version = versionIn(form);
    if (version !== null) body.set('version', version.value);
    const answer = await askPart(form.dataset.save ?? '', { method: 'POST', body, keepalive: true });
    if (answer.status === 401) return;
    const text = await answer.text();
    if (takeVersion(form, text) && answer.status === 409) {
      show(text);
      notify('Not saved: this part was changed in another window.', true);
    } else if (answer.ok) {
      notify('');
      settle(form, body);
      if (saving === 1) take(text);
    } else throw new Error('not saved');
  };

  document.addEventListener('change', ({ target }) => {
    const form = target instanceof Element ? target.closest('form[data-save]') : null;
    if (form instanceof HTMLFormElement) save(form);
  });
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    if (form.dataset.save !== undefined) {
      event.preventDefault();
      save(form);
    } else if (saving > 0) {
      // What was changed last is saved before anything is done with the draft.
      event.preventDefault();
      void last.then(() => form.requestSubmit(event.submitter));
    }
  });
  document.addEventListener('click', ({ target }) => {
    const chip = target instanceof Element ? target.closest('[data-insert]') : null;
    const line = document.getElementById('first_message');
    if (!(chip instanceof HTMLElement) || !(line instanceof HTMLTextAreaElement)) return;
    line.setRangeText(chip.dataset.insert ?? '', line.selectionStart, line.selectionEnd, 'end');
    line.focus();
    for (const type of ['input', 'change']) line.dispatchEvent(new Event(type, { bubbles: true }));
  });
  followWriting();
  lookLater();
}

/** What is said to the first people, while the words are written. */
function followWriting() {
  /** @type {number | undefined} */
  let timer;
  let asked = 0;
  const ask = async (/** @type {HTMLFormElement} */ form) => {
    const mine = ++asked;
    const place = byId('example');
    const sent = { method: 'POST', headers: { 'x-page-part': 'example' }, body: fieldsOf(form) };
    const answer = await fetch(place.dataset.example ?? '', sent).catch(() => null);
    // An example of what was written before is not shown over a later one; one that does not come leaves the last one.
    if (answer?.ok && mine === asked) place.innerHTML = await answer.text();
  };
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest('form#form-words') : null;
    if (!(form instanceof HTMLFormElement)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void ask(form), exampleAfterMs);
  });
}

function versionIn(/** @type {ParentNode} */ form) {
  const version = form.querySelector('[name="version"]');
  return version instanceof HTMLInputElement ? version : null;
}

/** What is sent next follows what the server has now; whether the page that it answered has this form. */
function takeVersion(/** @type {HTMLFormElement} */ form, /** @type {string} */ markup) {
  const page = document.createElement('template');
  page.innerHTML = markup;
  // The form of the name has a field called id, which hides the form's own.
  const fresh = page.content.getElementById(form.getAttribute('id') ?? '');
  const [own, version] = [versionIn(form), fresh === null ? null : versionIn(fresh)];
  if (own !== null && version !== null) own.value = version.value;
  return fresh !== null;
}

function fieldsOf(/** @type {HTMLFormElement} */ form) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value);
  return fields;
}
