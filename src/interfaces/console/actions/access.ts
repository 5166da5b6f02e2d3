import { listTokens, tokenRoles, type TokenRole } from '../../../ledger/console/tokens.ts';
import { instant, note } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { ConsoleAction } from '../core/action.ts';
import { roleWords } from '../core/document.ts';
import { lineField, selectField, written } from '../core/fields.ts';

const place = { section: 'access', crumbs: [['/access', 'Access']], back: ['/access', 'access'] } as const;

const allows: Readonly<Record<TokenRole, string>> = {
  read: 'Looks at campaigns, reports and events; numbers are masked',
  operate: 'Also starts, steers and edits campaigns, sees numbers, downloads results',
  admin: 'Also allows calls again, sets webhooks and schedules, and says who has access',
};

const lasts = [['7d', 'for 7 days'], ['90d', 'for 90 days'], ['365d', 'for a year']] as const; // prettier-ignore

/** The token's text is shown only once. */
const createAccess: ConsoleAction = {
  path: '/access/create',
  op: 'createToken',
  form: (_request, { fields, answer }) => ({
    ...place,
    title: answer === null ? 'New token' : `The token of ${String(answer['name'])}`,
    ...(answer === null ? {} : { instead: shownOnce(answer) }),
    button: 'Make the token',
    keep: 'Back, make none',
    body: html`${lineField(fields, { name: 'name', label: 'Who will use it', most: 100, required: true })}
      <fieldset class="pick">
        <legend>What it allows</legend>
        ${tokenRoles.map(
          (role) =>
            html`<label>
              <input type="radio" name="role" value="${role}" ${role === (fields?.get('role') ?? 'read') ? html`checked` : null} />
              <b>${roleWords[role]}</b><small>${allows[role]}</small>
            </label>`,
        )}
      </fieldset>
      ${selectField({ name: 'expires', label: 'It holds', none: 'until it is revoked', chosen: fields?.get('expires') ?? '', isBlock: true }, lasts)}`,
  }),
  call: ({ fields }) => ({ body: written(fields, 'name', 'role', 'expires') }),
  done: () => null,
};

function shownOnce({ token, tokenId }: Record<string, unknown>): Html {
  if (typeof token !== 'string')
    return note('wait', {
      title: 'The token was shown already',
      body: html`<p>It is kept nowhere. If nobody has it, revoke it and make another one.</p>`,
      action: html`<a class="btn sm" href="/access">Access</a>`,
    });
  return html`<section class="panel pad-all stack narrow">
    <p><b>Copy it now: it is shown this once.</b> The database keeps only a hash of it.</p>
    <div class="field">
      <label for="made-token">Token</label>
      <input id="made-token" class="mono" value="${token}" readonly autocomplete="off" spellcheck="false" />
      <p class="hint">Its ID is ${String(tokenId)}. It signs in to this page, and opens the API.</p>
    </div>
    <p class="actions"><a class="btn" href="/access">I have copied it</a></p>
  </section>`;
}

const revokeAccess: ConsoleAction = {
  path: '/access/:token/revoke',
  op: 'revokeToken',
  form: async ({ context, params, holder }) => {
    const token = (await listTokens(context.store)).find(({ tokenId }) => tokenId === params['token']);
    const { name = '', role = 'read', revokedReal = null, usedReal = null, tokenId = '' } = token ?? {};
    const isRevoked = { why: 'It is revoked already.', status: 409 };
    return {
      ...place,
      title: 'Revoke this token?',
      obstacle: token === undefined ? { why: 'There is no such token.', status: 404 } : revokedReal === null ? null : isRevoked,
      effects: [
        [
          'x',
          'is-bad',
          'Every request with it is refused from then on, and whoever is signed in with it is signed out. This cannot be undone.',
        ],
        ...(tokenId === holder.tokenId ? ([['alert', 'is-wait', 'It is the token with which you are signed in.']] as const) : []),
      ],
      keep: 'Keep it',
      standing:
        token === undefined
          ? []
          : [
              ['Name', printable(name)],
              ['Role', roleWords[role]],
              ['Last used', usedReal === null ? 'never' : instant(usedReal, 'full')],
            ],
      button: 'Revoke the token',
      danger: true,
    };
  },
  done: (_sent, { name }) => ({ to: '/access', said: `The token of ${String(name)} is revoked.` }),
};

export const accessActions = [createAccess, revokeAccess];
