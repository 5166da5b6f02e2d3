/* Forms that ask the sandbox for something, and what came of it. */

import { ask } from './ask.js';
import { notify } from './dom.js';
import { follower } from './live.js';

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

function readField(/** @type {Field} */ field) {
  const { kind } = field.dataset;
  if (kind === 'number') return Number(field.value);
  return kind === 'instant' ? new Date(field.value).toISOString() : field.value;
}

function readForm(/** @type {HTMLFormElement} */ form) {
  const fields = /** @type {Field[]} */ ([...form.elements]).filter((field) => field.name !== '');
  const whole = fields.find((field) => field.dataset.kind === 'whole');
  if (whole !== undefined) return JSON.parse(whole.value);
  const fixed = form.dataset.body === undefined ? undefined : JSON.parse(form.dataset.body);
  if (fields.length === 0) return fixed;
  const given = fields.filter((field) => field.value !== '').map((field) => [field.name, readField(field)]);
  return { ...fixed, ...Object.fromEntries(given) };
}

/**
 * One sentence per thing that was refused.
 *
 * @param {number} status
 * @param {{ detail?: { message?: unknown } | { loc: unknown[], msg: string }[] } | null} answer
 */
function explain(status, answer) {
  const detail = answer?.detail;
  if (Array.isArray(detail)) return detail.map(({ loc, msg }) => [...loc.slice(1), msg].join(': ')).join(' ');
  return typeof detail?.message === 'string' ? detail.message : `The sandbox answered with status ${status}.`;
}

async function submit(/** @type {HTMLFormElement} */ form) {
  const { request = '', said = '', confirm: question } = form.dataset;
  if (question !== undefined && !window.confirm(question)) return;
  let body;
  try {
    body = readForm(form);
  } catch {
    return notify('This is not JSON; nothing was sent.', true);
  }
  const [method = '', path = ''] = request.split(' ');
  try {
    const response = await ask(method, path, { body });
    const answer = await response.json().catch(() => null);
    if (!response.ok) return notify(explain(response.status, answer), true);
    if (answer?.answered === false) notify(`Nobody answered: ${String(answer.reason).replaceAll('_', ' ')}.`, true);
    else notify(said);
  } catch {
    return notify('The sandbox cannot be reached; nothing is known of the outcome.', true);
  }
  await follower.refresh();
}

/** Every form that names a request is sent as that. */
export function sendForms() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.request === undefined) return;
    event.preventDefault();
    void submit(form);
  });
  document.documentElement.dataset.listens = '';
}
