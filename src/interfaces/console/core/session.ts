import type { FastifyReply, FastifyRequest } from 'fastify';
import { isIPv6 } from 'node:net';

const cookieName = 'carillon_session';
const notificationName = 'carillon_notice';
const themeName = 'carillon_theme';
const zoneName = 'carillon_zone';
const mostNotificationLength = 600;

/** Sent to this server only, never with requests caused by another site. */
function cookieOptions(request: FastifyRequest) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: request.server.isBehindTls } as const;
}

/** Text of the session; null if signed out. Never a token. */
export function sessionOf(request: FastifyRequest): string | null {
  return request.cookies[cookieName] ?? null;
}

/** Ends with the browser; the ledger knows its expiry. */
export function keepSession(request: FastifyRequest, reply: FastifyReply, text: string): void {
  void reply.setCookie(cookieName, text, cookieOptions(request));
}

export function forgetSession(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(cookieName, cookieOptions(request));
}

const themes = ['light', 'dark'] as const;

/** Null: as the system. */
export function themeOf(request: FastifyRequest): (typeof themes)[number] | null {
  return themes.find((theme) => theme === request.cookies[themeName]) ?? null;
}

/** Kept for a year; any other word deletes it. */
export function keepTheme(request: FastifyRequest, reply: FastifyReply, chosen: string): void {
  const theme = themes.find((each) => each === chosen);
  if (theme === undefined) void reply.clearCookie(themeName, cookieOptions(request));
  else void reply.setCookie(themeName, theme, { ...cookieOptions(request), maxAge: 365 * 24 * 3600 });
}

/** Zone and language of the viewer's script; empty: not known yet. */
export function zoneOf(request: FastifyRequest): string {
  return request.cookies[zoneName] ?? '';
}

export function leaveNotification(request: FastifyRequest, reply: FastifyReply, text: string): void {
  void reply.setCookie(notificationName, text.slice(0, mostNotificationLength), cookieOptions(request));
}

export function takeNotification(request: FastifyRequest, reply: FastifyReply): string | null {
  const text = request.cookies[notificationName];
  if (text === undefined) return null;
  void reply.clearCookie(notificationName, cookieOptions(request));
  return text;
}

/** Besides the same-site cookie, refuses old browsers and other ports of the same host. */
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

/** Allowed failures at once; one more after each `everyMs`. */
const ofOne = { most: 10, everyMs: 30_000 };
const ofAll = { most: 100, everyMs: 1_000 };
/** Beyond this the oldest is forgotten; the common limit still applies. */
const mostAddresses = 10_000;

interface Failures {
  count: number;
  at: number;
}

/** Slows down token guessing, per address and in total. Per process; takes a few MB at most. */
export class SignInLimit {
  readonly #ofAll: Failures = { count: 0, at: 0 };
  readonly #byAddress = new Map<string, Failures>();

  /**
   * Milliseconds until this address may try a token; 0: now. A try counts as a failure until `succeeded`, so parallel tries gain nothing.
   * `now`: real time.
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
  // A clock that was set back neither forgives failures nor adds waiting.
  const passedMs = Math.max(0, now - failures.at);
  failures.count = Math.max(0, failures.count - passedMs / everyMs);
  failures.at = now;
  return failures.count <= most - 1 ? 0 : Math.ceil((failures.count - (most - 1)) * everyMs);
}

/** The owner of an IPv6 address has its whole /64. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== '')) as [string[], string[]];
  const between = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return [...first, ...between, ...last].slice(0, 4).join(':');
}
