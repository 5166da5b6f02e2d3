/** Follows the events of the sandbox and asks for the view again when one of them concerns it. */
export const followScript = String.raw`
const leastMs = 250;
const againMs = 1000;
let refreshing = null;
let wanted = false;
let timer = null;
let againTimer = null;
let lastAt = -Infinity;
let following = null;

function setLink(state, words) {
  const link = document.getElementById('link');
  link.dataset.link = state;
  link.textContent = words;
}

/** At once if nothing is on its way; else once more after it. */
function refresh() {
  if (refreshing !== null) {
    wanted = true;
    return refreshing;
  }
  refreshing = load().finally(() => {
    refreshing = null;
    lastAt = performance.now();
    if (!wanted) return;
    wanted = false;
    later(0);
  });
  return refreshing;
}

async function load() {
  const token = sessionStorage.getItem(tokenName);
  try {
    const response = await ask('GET', '/_sandbox/page' + location.search);
    if (response.status === 401) return;
    if (!response.ok) throw new Error(String(response.status));
    const markup = await response.text();
    // What comes after the token was forgotten, or changed, is not for whoever sits here now.
    if (sessionStorage.getItem(tokenName) !== token) return;
    if (root.dataset.token !== undefined) root.dataset.token = 'given';
    show(markup);
    const { again } = document.getElementById('main').dataset;
    clearTimeout(againTimer);
    if (again) againTimer = setTimeout(() => later(0), Number(again));
  } catch (error) {
    setLink('off', 'Not live');
    console.error(error);
  }
}

/** Not more often than a person can see, and not for nobody. */
function later(ms) {
  if (timer !== null || document.hidden) return;
  timer = setTimeout(
    () => {
      timer = null;
      void refresh();
    },
    Math.max(ms, leastMs - (performance.now() - lastAt)),
  );
}

function concerns(type) {
  const main = document.getElementById('main');
  return main !== null && (type === 'missed' || main.dataset.follows.split(' ').includes(type));
}

function stopFollowing() {
  if (following !== null) following.abort();
  following = null;
  setLink('off', 'Not live');
}

async function readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop();
    const types = messages.map((message) => (/^event: (.+)$/m.exec(message) ?? [])[1]);
    if (types.some(concerns)) later(0);
  }
}

/** Read as a stream, since the token cannot be given to an EventSource. */
async function follow() {
  const own = new AbortController();
  following = own;
  while (!own.signal.aborted) {
    try {
      const response = await ask('GET', '/_sandbox/events', undefined, own.signal);
      if (response.status === 401) return;
      if (response.ok) {
        setLink('on', 'Live');
        // What happened before the stream began is seen now.
        void refresh();
        await readEvents(response.body);
      }
    } catch (error) {
      if (own.signal.aborted) return;
    }
    setLink('off', 'Not live: trying again');
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

async function start() {
  if (root.dataset.token === 'wanted') {
    if (sessionStorage.getItem(tokenName) === null) return document.getElementById('token').focus();
    await refresh();
    if (root.dataset.token === 'wanted') return;
    document.getElementById('main').focus({ preventScroll: true });
  }
  void follow();
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) later(0);
});
writeTimes(document);
setClock();
setInterval(tick, 250);
void start();
`;
