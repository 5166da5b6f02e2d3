/** Asking the sandbox, with the control token where there is one, and the forms that do so. */
export const requestScript = String.raw`
const tokenName = 'sandbox control token';
const root = document.documentElement;

async function ask(method, path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(tokenName);
  if (token !== null) headers.authorization = 'Bearer ' + token;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const response = await fetch(path, {
    method,
    headers,
    cache: 'no-store',
    redirect: 'error',
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // A late answer to a token that is no longer the one says nothing about the new one.
  if (response.status === 401 && sessionStorage.getItem(tokenName) === token) askForToken(token !== null);
  return response;
}

/** Back to the form; nothing that was shown stays. */
function askForToken(wasWrong) {
  sessionStorage.removeItem(tokenName);
  root.dataset.token = 'wanted';
  stopFollowing();
  document.getElementById('app').replaceChildren();
  anchor = null;
  const said = document.getElementById('sign-in-said');
  // Without the form in it, the page is of a sandbox that had no token when it was opened.
  if (said === null) return location.reload();
  said.textContent = wasWrong ? 'This is not the control token of this sandbox.' : '';
  document.getElementById('token').focus();
}

let sayTimer = null;

/** What worked is said for a while; what did not, until something else is. */
function say(text, isError) {
  const notice = document.getElementById('notice');
  clearTimeout(sayTimer);
  if (isError !== true) sayTimer = setTimeout(() => say('', true), 6000);
  notice.textContent = text;
  notice.classList.toggle('error', isError === true);
}

function readField(field) {
  switch (field.dataset.kind) {
    case 'number':
      return Number(field.value);
    case 'instant':
      return new Date(field.value).toISOString();
    default:
      return field.value;
  }
}

function readForm(form) {
  const fields = [...form.elements].filter((field) => field.name !== '');
  const whole = fields.find((field) => field.dataset.kind === 'whole');
  if (whole !== undefined) return JSON.parse(whole.value);
  const fixed = form.dataset.body === undefined ? undefined : JSON.parse(form.dataset.body);
  if (fields.length === 0) return fixed;
  const given = Object.fromEntries(
    fields.filter((field) => field.value !== '').map((field) => [field.name, readField(field)]),
  );
  return { ...fixed, ...given };
}

/** One sentence per thing that was refused. */
function explain(status, answer) {
  const detail = answer === null ? null : answer.detail;
  if (Array.isArray(detail))
    return detail.map(({ loc, msg }) => [...loc.slice(1), msg].join(': ')).join(' ');
  return detail !== null && detail !== undefined && typeof detail.message === 'string'
    ? detail.message
    : 'The sandbox answered with status ' + status + '.';
}

async function submit(form) {
  const { request, said, confirm: question } = form.dataset;
  if (question !== undefined && !window.confirm(question)) return;
  let body;
  try {
    body = readForm(form);
  } catch {
    return say('This is not JSON; nothing was sent.', true);
  }
  const [method, path] = request.split(' ');
  try {
    const response = await ask(method, path, body);
    const answer = await response.json().catch(() => null);
    if (!response.ok) return say(explain(response.status, answer), true);
    const unanswered = answer !== null && answer.answered === false;
    say(unanswered ? 'Nobody answered: ' + String(answer.reason).replaceAll('_', ' ') + '.' : said, unanswered);
  } catch {
    return say('The sandbox cannot be reached; nothing is known of the outcome.', true);
  }
  await refresh();
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.id === 'sign-in-form') {
    event.preventDefault();
    const field = document.getElementById('token');
    const token = field.value.trim();
    field.value = '';
    // Nothing else can be a token, or stand in a header.
    if (!/^[\x21-\x7e]+$/.test(token)) return askForToken(true);
    sessionStorage.setItem(tokenName, token);
    void start();
  } else if (form.dataset.request !== undefined) {
    event.preventDefault();
    void submit(form);
  }
});

document.addEventListener('click', (event) => {
  if (event.target.id === 'forget-token') askForToken(false);
});
`;
