import type { FastifyReply, FastifyRequest } from 'fastify';
import { isIPv6 } from 'node:net';

const cookieName = 'carillon_session';
const noticeName = 'carillon_notice';
const themeName = 'carillon_theme';
const zoneName = 'carillon_zone';
const mostNotice = 600;

/** What a cookie of the page is sent with: to this server alone, never along with a request that another site has caused. */
function cookieOptions(request: FastifyRequest) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: request.server.isBehindTls } as const;
}

/** The text of the session in which somebody is signed in; null where nobody is. It is none of a token. */
export function sessionOf(request: FastifyRequest): string | null {
  return request.cookies[cookieName] ?? null;
}

/** The browser forgets it when it is closed; when it ends is for the ledger to say. */
export function keepSession(request: FastifyRequest, reply: FastifyReply, text: string): void {
  void reply.setCookie(cookieName, text, cookieOptions(request));
}

export function forgetSession(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(cookieName, cookieOptions(request));
}

const themes = ['light', 'dark'] as const;

/** The colours that the viewer has chosen; null: as the system has them. */
export function themeOf(request: FastifyRequest): (typeof themes)[number] | null {
  return themes.find((theme) => theme === request.cookies[themeName]) ?? null;
}

/** Keeps the choice for a year; any other word forgets it. */
export function keepTheme(request: FastifyRequest, reply: FastifyReply, chosen: string): void {
  const theme = themes.find((each) => each === chosen);
  if (theme === undefined) void reply.clearCookie(themeName, cookieOptions(request));
  else void reply.setCookie(themeName, theme, { ...cookieOptions(request), maxAge: 365 * 24 * 3600 });
}

/** In which zone and language the viewer's script writes times, as it has said; empty: it has not. */
export function zoneOf(request: FastifyRequest): string {
  return request.cookies[zoneName] ?? '';
}

export function leaveNotice(request: FastifyRequest, reply: FastifyReply, text: string): void {
  void reply.setCookie(noticeName, text.slice(0, mostNotice), cookieOptions(request));
}

export function takeNotice(request: FastifyRequest, reply: FastifyReply): string | null {
  const text = request.cookies[noticeName];
  if (text === undefined) return null;
  void reply.clearCookie(noticeName, cookieOptions(request));
  return text;
}

/**
 * Whether a change was sent from a page of this server. The cookie is not sent along from other sites; this refuses what an old browser, or
 * another server on another port of the same name, might send all the same.
 */
export function isFromOwnPage(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = request.headers;
  if (origin === undefined || host === undefined) return false;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}

/** So many failures at once, and one more each time that so much has passed. */
const ofOne = { most: 10, everyMs: 30_000 };
const ofAll = { most: 100, everyMs: 1_000 };
/** Of the others the oldest is forgotten: they share what all may do. */
const mostAddresses = 10_000;

interface Failures {
  count: number;
  at: number;
}

/** Slows down those who try tokens, each address by itself and all together. Of one process; it grows to a few MB at most. */
export class SignInLimit {
  readonly #ofAll: Failures = { count: 0, at: 0 };
  readonly #byAddress = new Map<string, Failures>();

  /**
   * Whether this address may try a token: 0, or in how many milliseconds it may. What is let through counts as a failure until
   * `succeeded` says otherwise, so that many at once are no way around it. `now`: real time.
   */
  begin(address: string, now: number): number {
    const own = this.#failuresOf(networkOf(address));
    const waitMs = Math.max(waitOf(own, ofOne, now), waitOf(this.#ofAll, ofAll, now));
    if (waitMs > 0) return waitMs;
    own.count += 1;
    this.#ofAll.count += 1;
    return 0;
  }

  succeeded(address: string): void {
    for (const failures of [this.#failuresOf(networkOf(address)), this.#ofAll]) failures.count = Math.max(0, failures.count - 1);
  }

  #failuresOf(network: string): Failures {
    const failures = this.#byAddress.get(network) ?? { count: 0, at: 0 };
    this.#byAddress.delete(network);
    this.#byAddress.set(network, failures);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > mostAddresses && oldest !== undefined) this.#byAddress.delete(oldest);
    return failures;
  }
}

function waitOf(failures: Failures, { most, everyMs }: typeof ofOne, now: number): number {
  // A clock that was set back takes nothing away, and lets nobody wait for it.
  const passedMs = Math.max(0, now - failures.at);
  failures.count = Math.max(0, failures.count - passedMs / everyMs);
  failures.at = now;
  return failures.count <= most - 1 ? 0 : Math.ceil((failures.count - (most - 1)) * everyMs);
}

/** Whoever has one address of IPv6 has all of its /64. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== '')) as [string[], string[]];
  const between = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...between, ...last].slice(0, 4).join(':');
}
