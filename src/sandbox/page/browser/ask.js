const tokenName = 'sandbox control token';

/** The control token of this tab, where one was given. */
export const token = {
  get: () => sessionStorage.getItem(tokenName),
  keep: (/** @type {string} */ given) => sessionStorage.setItem(tokenName, given),
  forget: () => sessionStorage.removeItem(tokenName),
};

/**
 * Asks the sandbox, with the control token where there is one. Where that is missing or wrong, the document has an event `unauthorized`,
 * whose `detail` tells whether one was sent.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, signal?: AbortSignal }} [more]
 */
export async function ask(method, path, { body, signal } = {}) {
  const sent = token.get();
  const response = await fetch(path, {
    method,
    headers: {
      ...(sent === null ? {} : { authorization: `Bearer ${sent}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    cache: 'no-store',
    redirect: 'error',
    signal: signal ?? null,
    body: body === undefined ? null : JSON.stringify(body),
  });
  // A late answer to a token that is no longer the one says nothing about the new one.
  if (response.status === 401 && token.get() === sent) document.dispatchEvent(new CustomEvent('unauthorized', { detail: sent !== null }));
  return response;
}
