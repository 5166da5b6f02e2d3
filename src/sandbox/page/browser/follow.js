/* Follows the events of the sandbox and asks for the view again when one of them concerns it. */

import { ask, token } from './ask.js';
import { byId } from './dom.js';
import { show } from './morph.js';

const leastMs = 250;
const againMs = 1000;
const root = document.documentElement;
/** @type {Promise<void> | null} */
let refreshing = null;
let wanted = false;
/** @type {number | null} */
let timer = null;
/** @type {number | undefined} */
let againTimer;
let lastAt = -Infinity;
/** @type {AbortController | null} */
let following = null;

function setLink(/** @type {'on' | 'off'} */ state, /** @type {string} */ words) {
  const link = byId('link');
  link.dataset.link = state;
  link.textContent = words;
}

/** At once if nothing is on its way; else once more after it. */
export function refresh() {
  if (refreshing !== null) {
    wanted = true;
    return refreshing;
  }
  refreshing = load().finally(() => {
    refreshing = null;
    lastAt = performance.now();
    if (!wanted) return;
    wanted = false;
    later();
  });
  return refreshing;
}

async function load() {
  const asked = token.get();
  try {
    const response = await ask('GET', `/_sandbox/page${location.search}`);
    if (response.status === 401) return;
    if (!response.ok) throw new Error(String(response.status));
    const markup = await response.text();
    // What comes after the token was forgotten, or changed, is not for whoever sits here now.
    if (token.get() !== asked) return;
    if (root.dataset.token !== undefined) root.dataset.token = 'given';
    show(markup);
    const { again } = byId('main').dataset;
    clearTimeout(againTimer);
    if (again) againTimer = setTimeout(later, Number(again));
  } catch (error) {
    setLink('off', 'Not live');
    console.error(error);
  }
}

/** Not more often than a person can see, and not for nobody. */
export function later() {
  if (timer !== null || document.hidden) return;
  timer = setTimeout(
    () => {
      timer = null;
      void refresh();
    },
    Math.max(0, leastMs - (performance.now() - lastAt)),
  );
}

function concerns(/** @type {string | undefined} */ type = '') {
  const follows = document.getElementById('main')?.dataset.follows?.split(' ') ?? [];
  return type === 'missed' || follows.includes(type);
}

export function stopFollowing() {
  following?.abort();
  following = null;
  setLink('off', 'Not live');
}

async function readEvents(/** @type {ReadableStream<BufferSource>} */ body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    const types = messages.map((message) => /^event: (.+)$/m.exec(message)?.[1]);
    if (types.some(concerns)) later();
  }
}

/** Read as a stream, since the token cannot be given to an EventSource. */
async function follow() {
  const own = new AbortController();
  following = own;
  while (!own.signal.aborted) {
    try {
      const response = await ask('GET', '/_sandbox/events', { signal: own.signal });
      if (response.status === 401) return;
      if (response.ok && response.body !== null) {
        setLink('on', 'Live');
        // What happened before the stream began is seen now.
        void refresh();
        await readEvents(response.body);
      }
    } catch {
      if (own.signal.aborted) return;
    }
    setLink('off', 'Not live: trying again');
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

/** Shows what there is to see and goes on with it, once there is a token where one is wanted. */
export async function start() {
  if (root.dataset.token === 'wanted') {
    if (token.get() === null) return byId('token').focus();
    await refresh();
    if (root.dataset.token === 'wanted') return;
    byId('main').focus({ preventScroll: true });
  }
  void follow();
}
