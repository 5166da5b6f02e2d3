/* The control token: asked for where the sandbox wants one, and forgotten. */

import { token } from './ask.js';
import { byId } from './dom.js';
import { follower, start } from './live.js';
import { setClock } from './times.js';

/** Back to the form; nothing that was shown stays. */
function askForToken(/** @type {boolean} */ wasWrong) {
  token.forget();
  document.documentElement.dataset.token = 'wanted';
  follower.stop();
  byId('app').replaceChildren();
  setClock();
  const said = document.getElementById('sign-in-said');
  // Without the form in it, the page is of a sandbox that had no token when it was opened.
  if (said === null) return location.reload();
  said.textContent = wasWrong ? 'This is not the control token of this sandbox.' : '';
  byId('token').focus();
}

/** Goes on with the token that was typed in, if it can be one. */
function takeToken(/** @type {HTMLInputElement} */ field) {
  const given = field.value.trim();
  field.value = '';
  // Nothing else can be a token, or stand in a header.
  if (!/^[\x21-\x7e]+$/.test(given)) return askForToken(true);
  token.keep(given);
  void start();
}

export function listenForToken() {
  document.addEventListener('unauthorized', (event) => askForToken(event instanceof CustomEvent && event.detail));
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.id === 'forget-token') askForToken(false);
  });
  document.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement) || event.target.id !== 'sign-in-form') return;
    event.preventDefault();
    takeToken(/** @type {HTMLInputElement} */ (byId('token')));
  });
}
