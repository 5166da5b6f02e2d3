/* A new campaign: a list is dropped where it is chosen, and the example follows what is written. Without this, both are done by buttons. */

import { byId } from './dom.js';

const exampleAfterMs = 300;

/** What the page of a draft does while somebody works on it; nothing on any other page. */
export function startDraft() {
  for (const place of document.querySelectorAll('.drop')) if (place instanceof HTMLElement) takeDrops(place);
  const form = document.querySelector('form[data-example]');
  if (form instanceof HTMLFormElement) followWriting(form);
}

function takeDrops(/** @type {HTMLElement} */ place) {
  const input = place.querySelector('input[type="file"]');
  const said = place.querySelector('.entry-problem');
  if (!(input instanceof HTMLInputElement) || said === null) return;
  const most = Number(place.dataset.most);
  const show = () => {
    const isTooLarge = (input.files?.[0]?.size ?? 0) > most;
    said.textContent = isTooLarge ? `This file is larger than ${most / 1e6} MB: start it with carillon start, or send it to the API.` : '';
    input.setCustomValidity(said.textContent);
    input.toggleAttribute('aria-invalid', isTooLarge);
  };
  const over = (/** @type {boolean} */ is) => place.classList.toggle('over', is);
  place.addEventListener('dragover', (event) => {
    event.preventDefault();
    over(true);
  });
  place.addEventListener('dragleave', () => over(false));
  place.addEventListener('drop', (event) => {
    event.preventDefault();
    over(false);
    if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    show();
  });
  input.addEventListener('change', show);
  input.form?.addEventListener('submit', () => {
    const button = input.form?.querySelector('button');
    if (button instanceof HTMLButtonElement) button.textContent = 'Uploading …';
  });
}

function followWriting(/** @type {HTMLFormElement} */ form) {
  /** @type {number | undefined} */
  let timer;
  let asked = 0;
  const ask = async () => {
    const mine = ++asked;
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value);
    const answer = await fetch(form.dataset.example ?? '', {
      method: 'POST',
      headers: { 'x-page-part': 'example' },
      body: fields,
    }).catch(() => null);
    // An example of what was written before is not shown over a later one; one that does not come leaves the last one.
    if (answer?.ok && mine === asked) byId('example').innerHTML = await answer.text();
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), exampleAfterMs);
  });
}
