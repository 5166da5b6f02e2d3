import { badge, empty, id, instant, link, linkButton, menu, menuLink, table, two } from '../../../presentation/html/elements.ts';
import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { holdsAt, listTokens, type Token } from '../../../ledger/console/tokens.ts';
import { roleWords } from '../core/document.ts';
import { tokenPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

export async function accessView(request: ViewRequest): Promise<View> {
  const frame = { title: 'Access', section: 'access' } as const;
  if (!may(request, 'admin'))
    return { ...frame, status: 403, body: empty('Who may use it is shown to the role admin', link('/', 'All campaigns')) };
  const tokens = await listTokens(request.context.store);
  const rows = tokens.map((token) => ({ key: `token-${token.tokenId}`, cells: cellsOf(token, request) }));
  return {
    ...frame,
    actions: linkButton('/access/create', 'New token', 'primary', 'plus'),
    meta: html`<span>Each person and each program has a token of its own: its name stands in the activity beside every change.</span>`,
    body: html`<section class="panel" aria-label="All tokens">${table('Tokens', rows, null, true)}</section>`,
  };
}

function cellsOf(token: Token, request: ViewRequest): Record<string, HtmlValue> {
  const { tokenId, name, role, createdReal, usedReal } = token;
  const now = request.context.now();
  // Real time, which may differ from the service clock.
  const at = (real: number) => instant(real, request.clock.sandbox ? 'full' : 'minute');
  const isOwn = tokenId === request.holder.tokenId;
  return {
    Name: two(html`<b class="named whole">${printable(name)}</b>`, [id(tokenId), isOwn ? ' you' : null]),
    Role: roleWords[role],
    State: stateOf(token, now, at),
    'Last used': usedReal === null ? 'never' : at(usedReal),
    Made: at(createdReal),
    '': holdsAt(token, now)
      ? menu(`Actions for ${printable(name)}`, [
          menuLink(tokenPath(tokenId, '/revoke'), 'Revoke…', { drawing: 'x', small: 'Refused from then on', danger: true }),
        ])
      : null,
  };
}

function stateOf({ revokedReal, expiresReal }: Token, now: number, at: (real: number) => HtmlValue): HtmlValue {
  if (revokedReal !== null) return two(badge('quiet', 'Revoked', 'x'), at(revokedReal));
  if (expiresReal === null) return badge('good', 'Holds');
  return expiresReal > now
    ? two(badge('good', 'Holds'), ['until ', at(expiresReal)])
    : two(badge('quiet', 'Expired', 'clock'), at(expiresReal));
}
