import type { FastifyReply, FastifyRequest } from 'fastify';

const cookieName = 'carillon_session';
const noticeName = 'carillon_notice';
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

/** Says a sentence on the next page that is opened. */
export function leaveNotice(request: FastifyRequest, reply: FastifyReply, text: string): void {
  void reply.setCookie(noticeName, text.slice(0, mostNotice), cookieOptions(request));
}

/** The sentence that was left, once. */
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
