/** Like a browser; returns its cookie. */
export async function signIn(origin: string, token: string): Promise<string> {
  const answer = await fetch(`${origin}/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ token, to: '/' }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`the sign-in was answered ${answer.status}`);
  const [cookie = ''] = answer.headers.getSetCookie();
  return cookie.split(';')[0] ?? '';
}
