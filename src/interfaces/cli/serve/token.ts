import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../../shared/input/times.ts';
import { listTokens, tokenRoles, type Token, type TokenRole } from '../../../ledger/console/tokens.ts';
import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { tokenAsJson } from '../../../operations/control/tokens.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { mayBegin } from '../terminal/answer.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import { tableOrNone, type Column } from '../terminal/table.ts';

const examples = `
A token opens the HTTP API and the console of carillon serve, for programs and people alike. Give each of them one of its own: its name
stands in the event log beside every change. The text of a token is shown once; the database keeps only a hash of it.

  read      look at campaigns, reports and events; numbers are masked
  operate   also start, steer and edit campaigns, see numbers, and download results
  admin     also allow calls to suppressed numbers again, and set webhooks

Examples:
  carillon token create "front desk" --role operate
  carillon token create crm --role read --expires 90d --json
  carillon token list
  carillon token revoke 4f7c2f0e9a1b`;

export const tokenCommand = groupOf({ name: 'token', help: examples }, [
  commandOf<{ role: TokenRole; expires?: string }>({
    name: 'create',
    says: 'Make a token and show it once',
    argument: ['<name>', 'who will use it; stands in the event log', readName],
    flags: [
      new Option('--role <role>', 'what it allows').choices(tokenRoles).makeOptionMandatory(),
      ['--expires <duration>', 'how long it holds, such as 90d (default: until it is revoked)', readLasting],
    ],
    changes: true,
    examples: ['carillon token create "front desk" --role operate'],
    run: async (io, { role, expires, key }, name) => {
      const sent = { body: { name, role, expires }, key };
      const made = await withControl(io, (control) => performHere(control, 'createToken', sent), openLedger);
      const { token, tokenId } = made;
      const shown = token === null ? 'It was shown when it was made, and is not shown again.' : 'It is not shown again: keep it now.';
      return { data: made, words: token === null ? '' : `${token}\n`, aside: `Token ${tokenId} of ${name}, role ${role}. ${shown}\n` };
    },
  }),
  commandOf({
    name: 'list',
    says: 'List the tokens; none can be read again',
    examples: ['carillon token list --json'],
    run: (io) =>
      withControl(io, async ({ store }) => {
        const tokens = await listTokens(store);
        return {
          data: { tokens: tokens.map(tokenAsJson) },
          ...tableOrNone(io, columns(io.now()), tokens, 'There is no token yet: carillon token create makes one.\n'),
        };
      }),
  }),
  commandOf({
    name: 'revoke',
    says: 'Refuse a token from now on',
    argument: ['<id>', 'id of the token, as carillon token list shows it'],
    asks: true,
    changes: true,
    examples: ['carillon token revoke 4f7c2f0e9a1b'],
    run: async (io, { yes, key }, tokenId) => {
      if (!(await mayBegin(io, yes, `Revoke token ${tokenId}? Every request with it is refused from now on.`))) return null;
      return withControl(io, async (control) => {
        const token = await performHere(control, 'revokeToken', { params: { token: tokenId }, key });
        return { data: token, words: `Token ${tokenId} of ${token.name} is revoked.\n` };
      });
    },
  }),
]);

function readName(text: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= 100) return name;
  throw new InvalidArgumentError('Write a name of 1 to 100 characters.');
}

function readLasting(text: string): string {
  const lastsMs = parseDuration(text);
  if (lastsMs !== null && lastsMs > 0) return text;
  throw new InvalidArgumentError('Write a duration, such as 90d.');
}

const columns = (now: number): Column<Token>[] => [
  { title: 'Id', value: ({ tokenId }) => tokenId },
  { title: 'Role', value: ({ role }) => role },
  { title: 'Name', value: ({ name }) => name, flexible: true },
  { title: 'Made', value: ({ createdReal }) => new Date(createdReal).toISOString().slice(0, 10) },
  { title: 'Used', value: ({ usedReal }) => (usedReal === null ? 'never' : new Date(usedReal).toISOString().slice(0, 10)) },
  { title: 'Holds', value: (token) => holdsText(token, now) },
];

function holdsText({ revokedReal, expiresReal }: Token, now: number): string {
  if (revokedReal !== null) return 'revoked';
  if (expiresReal === null) return 'until revoked';
  return `${expiresReal > now ? 'until' : 'was until'} ${new Date(expiresReal).toISOString().slice(0, 10)}`;
}
