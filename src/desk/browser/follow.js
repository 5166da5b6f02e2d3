/* Hears that something has happened, asks for the view again, and brings what is shown in line with it. Nothing of it in a hidden tab. */

import { byId } from './dom.js';
import { setClock, tick, writeTimes } from './times.js';

const leastMs = 1000;
const againMs = 2000;
/** @type {EventSource | null} */
let source = null;
/** @type {number | undefined} */
let timer;
/** @type {number | undefined} */
let again;
let lastAt = -Infinity;
let loading = false;
let wanted = false;

function setLink(/** @type {'on' | 'off'} */ state, /** @type {string} */ words) {
  // A view that changes by itself and for no event says nothing of it.
  const link = document.getElementById('link');
  if (link === null) return;
  link.dataset.link = state;
  if (link.textContent !== words) link.textContent = words;
}

/** Somebody writes in a form: what they have chosen must not move under their hands. */
function isWriting() {
  const form = document.activeElement?.closest('form.act');
  return form !== null && form !== undefined;
}

function later() {
  clearTimeout(timer);
  if (document.hidden) return;
  timer = setTimeout(() => void load(), Math.max(0, leastMs - (performance.now() - lastAt)));
}

/** Some views change without an event: the next look at one of them. */
function lookAgain() {
  clearTimeout(again);
  const ms = Number(byId('main').dataset.again);
  if (ms > 0 && !document.hidden) again = setTimeout(later, ms);
}

async function load() {
  if (isWriting()) return lookAgain();
  if (loading) {
    wanted = true;
    return;
  }
  loading = true;
  try {
    const response = await fetch(location.href, {
      headers: { 'x-page-part': 'app' },
      cache: 'no-store',
      redirect: 'error',
    });
    if (response.status === 401) return location.reload();
    show(await response.text());
  } catch {
    setLink('off', 'Not live: trying again');
  } finally {
    loading = false;
    lastAt = performance.now();
    lookAgain();
    if (wanted) {
      wanted = false;
      later();
    }
  }
}

function show(/** @type {string} */ markup) {
  const template = document.createElement('template');
  template.innerHTML = `<div id="app">${markup}</div>`;
  writeTimes(template.content);
  const focused = document.activeElement;
  Idiomorph.morph(byId('app'), template.innerHTML, {
    ignoreActiveValue: true,
    callbacks: {
      beforeAttributeUpdated: (name, element) =>
        !(name === 'open' && element.nodeName === 'DETAILS') &&
        !(name === 'src' && element instanceof HTMLAudioElement && !element.paused),
    },
  });
  // Whoever stood on something that is gone goes on from the top of what is shown.
  if (focused?.isConnected === false) byId('main').focus({ preventScroll: true });
  document.title = `${byId('main').dataset.title} · Carillon`;
  setClock();
  tick();
}

function open() {
  const { follows } = byId('main').dataset;
  if (source !== null || document.hidden || !follows) return;
  source = new EventSource(`/changes?campaign=${encodeURIComponent(follows)}`);
  source.addEventListener('open', () => setLink('on', 'Live'));
  source.addEventListener('changed', later);
  source.addEventListener('error', () => {
    close();
    setLink('off', 'Not live: trying again');
    setTimeout(() => {
      open();
      later();
    }, againMs);
  });
}

function close() {
  source?.close();
  source = null;
}

/** Follows what the view says it follows, for as long as somebody can see it; nothing where it changes for nothing. */
export function follow() {
  const { follows, again: every } = byId('main').dataset;
  if (!follows && !every) return;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) return close();
    open();
    later();
  });
  open();
  lookAgain();
}
