/* Hears that something has happened, asks for the view again, and brings what is shown in line with it. Nothing of it in a hidden tab. */

import { show } from './show.js';

const againMs = 1000;

/**
 * How a page is followed.
 *
 * @typedef {object} Followed
 * @property {() => Promise<string | null | { off: string }>} view The fresh markup, null to keep what is shown, or why there is none.
 * @property {() => string | null} events Address of server-sent events; null for a view that changes for none.
 * @property {(path: string, signal: AbortSignal) => Promise<Response>} ask With the token or session of the page.
 * @property {(type: string) => boolean} concerns Whether the view changes for an event of that type.
 * @property {number} leastMs Between two looks.
 * @property {boolean} isFresh Whether the page came with its data.
 * @property {() => boolean} [isHeld] Whether the viewer is at something that must not move under their hands.
 */

/** Keeps a page in line with its server, for as long as somebody can see it. */
export function createFollower(/** @type {Followed} */ { view, events, ask, concerns, leastMs, isFresh, isHeld }) {
  /** @type {Promise<void> | null} */
  let looking = null;
  let wanted = false;
  /** @type {number | undefined} */
  let timer;
  /** @type {number | undefined} */
  let againTimer;
  let lastAt = -Infinity;
  /** @type {AbortController | null} */
  let following = null;
  let isLive = false;

  /** At once if nothing is on its way; else once more after it. */
  function refresh() {
    if (looking !== null) {
      wanted = true;
      return looking;
    }
    looking = look().finally(() => {
      looking = null;
      lastAt = performance.now();
      if (wanted) later();
      else lookAgain();
      wanted = false;
    });
    return looking;
  }

  async function look() {
    if (isHeld?.()) return;
    const markup = await view().catch(() => ({ off: 'Not live: trying again' }));
    if (markup !== null && typeof markup === 'object') setLink('off', markup.off);
    if (typeof markup !== 'string') return;
    show(markup);
    if (isLive) setLink('on', 'Live');
  }

  /** Not more often than a person can see, and not for nobody. */
  function later() {
    if (timer !== undefined || document.hidden) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void refresh();
      },
      Math.max(0, leastMs - (performance.now() - lastAt)),
    );
  }

  /** Some views change without an event: the next look at one of them. */
  function lookAgain() {
    clearTimeout(againTimer);
    const ms = Number(document.getElementById('main')?.dataset.again);
    if (ms > 0) againTimer = setTimeout(later, ms);
  }

  /** Read as a stream: an EventSource takes no header, and so no token. */
  async function follow() {
    const path = events();
    if (path === null || document.hidden || following !== null) return;
    const own = new AbortController();
    following = own;
    for (let isFirst = true; !own.signal.aborted; isFirst = false) {
      try {
        const response = await ask(path, own.signal);
        if (response.status === 401) break;
        if (response.ok && response.body !== null) {
          isLive = true;
          setLink('on', 'Live');
          // What happened before the stream began is seen now.
          if (!isFresh || !isFirst) later();
          await readEvents(response.body);
        }
      } catch {
        // It is tried again.
      }
      if (own.signal.aborted) return;
      isLive = false;
      setLink('off', 'Not live: trying again');
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
    if (following === own) following = null;
  }

  async function readEvents(/** @type {ReadableStream<BufferSource>} */ body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const messages = (text + value).split('\n\n');
      text = messages.pop() ?? '';
      if (messages.some((message) => concerns(/^event: (.+)$/m.exec(message)?.[1] ?? ''))) later();
    }
  }

  function stop() {
    clearTimeout(timer);
    timer = undefined;
    clearTimeout(againTimer);
    following?.abort();
    following = null;
    isLive = false;
    setLink('off', 'Not live');
  }

  let isStarted = false;
  document.addEventListener('visibilitychange', () => {
    if (!isStarted) return;
    if (document.hidden) return stop();
    void follow();
    later();
  });

  return {
    refresh,
    start: () => {
      isStarted = true;
      void follow();
      lookAgain();
    },
    stop: () => {
      isStarted = false;
      stop();
    },
  };
}

/** A view that changes by itself and for no event says nothing of it. */
function setLink(/** @type {'on' | 'off'} */ state, /** @type {string} */ words) {
  for (const link of document.querySelectorAll('.live')) {
    link.setAttribute('data-link', state);
    if (link.textContent !== words) link.textContent = words;
  }
}
