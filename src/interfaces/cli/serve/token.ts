import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, withInstants } from '../../../shared/input/times.ts';
import { createToken, listTokens, revokeToken, tokenRoles, type Token, type TokenRole } from '../../../ledger/console/tokens.ts';
import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeAnswer } from '../terminal/answer.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';

const examples = `
A token opens the HTTP API and the page of carillon serve, for programs and people alike. Give each of them one of its own: its name
stands in the event log beside every change. The text of a token is shown once; the database keeps only a hash of it.

  read      look at campaigns, reports and events; numbers are masked
  operate   also start, steer and edit campaigns, see numbers, and download results
  admin     also allow calls to suppressed numbers again, and set webhooks

Examples:
  carillon token create "front desk" --role operate
  carillon token create crm --role read --expires 90d --json
  carillon token list
  carillon token revoke 4f7c2f0e9a1b`;

/** `carillon token`: who may use API and page. */
export function tokenCommand(io: Io): Command {
  const command = new Command('token').addHelpText('after', examples);
  command
    .command('create')
    .description('Make a token and show it once')
    .argument('<name>', 'who will use it; stands in the event log', readName)
    .addOption(new Option('--role <role>', 'what it allows').choices(tokenRoles).makeOptionMandatory())
    .option('--expires <duration>', 'how long it holds, such as 90d (default: until it is revoked)', readLasting)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon token create "front desk" --role operate')
    .action((name: string, flags: { role: TokenRole; expires?: number; json: boolean }) => create(io, name, flags));
  command
    .command('list')
    .description('List the tokens; none can be read again')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon token list --json')
    .action(({ json }: { json: boolean }) => list(io, json));
  command
    .command('revoke')
    .description('Refuse a token from now on')
    .argument('<id>', 'id of the token, as carillon token list shows it')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon token revoke 4f7c2f0e9a1b')
    .action((id: string, flags: { yes: boolean; json: boolean }) => revoke(io, id, flags));
  return command;
}

function readName(text: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= 100) return name;
  throw new InvalidArgumentError('Write a name of 1 to 100 characters.');
}

function readLasting(text: string): number {
  const lastsMs = parseDuration(text);
  if (lastsMs !== null && lastsMs > 0) return lastsMs;
  throw new InvalidArgumentError('Write a duration, such as 90d.');
}

function asJson({ tokenId, name, role, createdReal, expiresReal, revokedReal }: Token): Record<string, unknown> {
  return { tokenId, name, role, createdAt: createdReal, expiresAt: expiresReal, revokedAt: revokedReal };
}

async function create(io: Io, name: string, { role, expires, json }: { role: TokenRole; expires?: number; json: boolean }): Promise<void> {
  await withControl(
    io,
    async ({ store }) => {
      const made = await createToken(store, { name, role, lastsMs: expires ?? null, nowReal: io.now() });
      writeAnswer(io, json, {
        data: withInstants({ ...asJson(made.token), token: made.text }),
        words: `${made.text}\n`,
      });
      if (!json) io.stderr.write(`Token ${made.token.tokenId} of ${name}, role ${role}. It is not shown again: keep it now.\n`);
    },
    openLedger,
  );
}

async function list(io: Io, json: boolean): Promise<void> {
  await withControl(io, async ({ store }) => {
    const tokens = await listTokens(store);
    const table = renderTable<Token>(
      [
        { title: 'Id', value: ({ tokenId }) => tokenId },
        { title: 'Role', value: ({ role }) => role },
        { title: 'Name', value: ({ name }) => name, flexible: true },
        { title: 'Made', value: ({ createdReal }) => new Date(createdReal).toISOString().slice(0, 10) },
        { title: 'Holds', value: (token) => holdsText(token, io.now()) },
      ],
      tokens,
      terminalWidth(io),
    );
    writeAnswer(io, json, {
      data: withInstants({ tokens: tokens.map(asJson) }),
      words: tokens.length === 0 ? '' : table,
    });
    if (tokens.length === 0 && !json) io.stderr.write('There is no token yet: carillon token create makes one.\n');
  });
}

function holdsText({ revokedReal, expiresReal }: Token, now: number): string {
  if (revokedReal !== null) return 'revoked';
  if (expiresReal === null) return 'until revoked';
  return `${expiresReal > now ? 'until' : 'was until'} ${new Date(expiresReal).toISOString().slice(0, 10)}`;
}

async function revoke(io: Io, tokenId: string, { yes, json }: { yes: boolean; json: boolean }): Promise<void> {
  if (!(await mayBegin(io, yes, `Revoke token ${tokenId}? Whoever uses it is refused from now on.`))) return;
  await withControl(io, async ({ store }) => {
    const token = await revokeToken(store, tokenId, io.now());
    if (token === undefined) throw new UsageError(`There is no token ${JSON.stringify(tokenId)}; carillon token list shows them.`);
    writeAnswer(io, json, {
      data: withInstants(asJson(token)),
      words: `Token ${tokenId} of ${token.name} is revoked.\n`,
    });
  });
}
