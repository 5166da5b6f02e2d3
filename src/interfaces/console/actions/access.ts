import { operations } from '../../../operations/list.ts';
import { listTokens, tokenRoles, type TokenRole } from '../../../ledger/console/tokens.ts';
import { instant, note } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { actionForm, apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { roleWords } from '../core/document.ts';
import { lineField, selectField, written } from '../core/fields.ts';
import { pressView } from '../core/press.ts';

const back = '/access';
const crumbs = [[back, 'Access']] as const;

const allows: Readonly<Record<TokenRole, string>> = {
  read: 'Looks at campaigns, reports and events; numbers are masked',
  operate: 'Also starts, steers and edits campaigns, sees numbers, downloads results',
  admin: 'Also allows calls again, sets webhooks and schedules, and says who has access',
};

/** A token for one more person or program. Its text is shown once. */
export const createAccess: ConsoleAction = {
  path: '/access/create',
  role: operations.createToken.role,
  form: async (_request, given) => ({
    title: given.answer === null ? 'New token' : `The token of ${String(given.answer['name'])}`,
    section: 'access',
    crumbs,
    body:
      given.answer === null
        ? html`<section class="panel pad-all stack narrow">
            ${actionForm(given, {
              button: 'Make the token',
              back,
              keep: 'Back, make none',
              body: html`${lineField(given.fields, { name: 'name', label: 'Who will use it', most: 100, required: true })}
              ${roleField(given)}
              ${selectField(
                {
                  name: 'expires',
                  label: 'It holds',
                  none: 'until it is revoked',
                  chosen: given.fields?.get('expires') ?? '',
                  isBlock: true,
                },
                [
                  ['7d', 'for 7 days'],
                  ['90d', 'for 90 days'],
                  ['365d', 'for a year'],
                ],
              )}`,
            })}
          </section>`
        : shownOnce(given.answer),
  }),
  call: ({ fields }) => ({ ...apiCall('createToken'), body: written(fields, 'name', 'role', 'expires') }),
  done: () => null,
};

function roleField({ fields }: Given): Html {
  const chosen = fields?.get('role') ?? 'read';
  return html`<fieldset class="pick">
    <legend>What it allows</legend>
    ${tokenRoles.map(
      (role) =>
        html`<label>
          <input type="radio" name="role" value="${role}" ${role === chosen ? html`checked` : null} />
          <b>${roleWords[role]}</b><small>${allows[role]}</small>
        </label>`,
    )}
  </fieldset>`;
}

function shownOnce({ token, tokenId }: Record<string, unknown>): Html {
  if (typeof token !== 'string')
    return note('wait', {
      title: 'The token was shown already',
      body: html`<p>It is kept nowhere. If nobody has it, revoke it and make another one.</p>`,
      action: html`<a class="btn sm" href="${back}">Access</a>`,
    });
  return html`<section class="panel pad-all stack narrow">
    <p><b>Copy it now: it is shown this once.</b> The database keeps only a hash of it.</p>
    <div class="field">
      <label for="made-token">Token</label>
      <input id="made-token" class="mono" value="${token}" readonly autocomplete="off" spellcheck="false" />
      <p class="hint">Its ID is ${String(tokenId)}. It signs in to this page, and opens the API.</p>
    </div>
    <p class="actions"><a class="btn" href="${back}">I have copied it</a></p>
  </section>`;
}

export const revokeAccess: ConsoleAction = {
  path: '/access/:token/revoke',
  role: operations.revokeToken.role,
  form: async ({ context, params, holder }, given) => {
    const token = (await listTokens(context.store)).find(({ tokenId }) => tokenId === params['token']);
    const { name = '', revokedReal = null, usedReal = null, tokenId = '' } = token ?? {};
    const why = token === undefined ? 'There is no such token.' : 'It is revoked already.';
    return pressView(given, {
      title: 'Revoke this token?',
      section: 'access',
      crumbs,
      back: [back, 'access'],
      obstacle: token === undefined || revokedReal !== null ? { why, status: token === undefined ? 404 : 409 } : null,
      says: null,
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
              ['Role', roleWords[token.role]],
              ['Last used', usedReal === null ? 'never' : instant(usedReal, 'full')],
            ],
      button: 'Revoke the token',
      danger: true,
    });
  },
  call: ({ params }) => apiCall('revokeToken', params),
  done: (_sent, { body }) => ({ to: back, said: `The token of ${String(body['name'])} is revoked.` }),
};
