/* What was written stays in this tab when a session ends, until the next sign-in. */

const key = 'carillon-written';
const isSignIn = () => document.getElementById('sign-in-form') !== null;
const forms = () => [...document.querySelectorAll('form.act, form[data-save]')].filter((form) => form instanceof HTMLFormElement);

function keep(isSignedOut = false) {
  const written = forms().map((form) => [...new FormData(form)].filter(([, value]) => typeof value === 'string'));
  sessionStorage.setItem(key, JSON.stringify({ path: location.pathname, written, isSignedOut }));
}

/** Asks for a part of the page; after the end of the session, for a new one. */
export async function askPart(/** @type {string} */ path, /** @type {RequestInit} */ more = {}) {
  const answer = await fetch(path, { headers: { 'x-page-part': 'app' }, cache: 'no-store', redirect: 'error', ...more });
  if (answer.status === 401) signInAgain();
  return answer;
}

/** Asks for the token, and comes back to what is written here. */
function signInAgain() {
  keep(true);
  location.assign(`/sign-in?ended=yes&to=${encodeURIComponent(location.pathname + location.search)}`);
}

/** Puts back what was written before the sign-in. Called once the page hears changes. */
export function startKeeping() {
  const text = sessionStorage.getItem(key);
  document.addEventListener('submit', ({ target }) => {
    if (target instanceof Element && target.matches('form.act')) keep();
  });
  if (text === null) return;
  const { path, written, isSignedOut } = JSON.parse(text);
  if (isSignIn()) return sessionStorage.setItem(key, JSON.stringify({ path, written, isSignedOut: true }));
  sessionStorage.removeItem(key);
  if (!isSignedOut || path !== location.pathname) return;
  for (const [at, form] of forms().entries()) putBack(form, new Map(written[at] ?? []));
}

function putBack(/** @type {HTMLFormElement} */ form, /** @type {Map<string, string>} */ written) {
  for (const field of form.elements) {
    const { name, type, value } = /** @type {HTMLInputElement} */ (field);
    if (name === '' || ['hidden', 'password', 'file', 'submit', 'fieldset'].includes(type)) continue;
    const isMark = type === 'radio' || type === 'checkbox';
    const now = isMark ? written.get(name) === value : (written.get(name) ?? value);
    if (now === Reflect.get(field, isMark ? 'checked' : 'value')) continue;
    Reflect.set(field, isMark ? 'checked' : 'value', now);
    for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }
}
