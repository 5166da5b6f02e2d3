import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { commands } from '../../../../src/interfaces/cli/commands.ts';
import { codeOfName } from '../../../../src/shared/input/errors.ts';
import { withInstants } from '../../../../src/shared/input/times.ts';
import { hooksAsJson } from '../../../../src/presentation/words/hooks.ts';
import { idleReasonAsJson } from '../../../../src/presentation/words/why.ts';
import { writeCampaign, minimalCampaign } from '../../../list/campaign-folder.ts';
import { createLedger } from '../campaign-ledger.ts';
import { createTerminal } from '../terminal.ts';

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const instantName = /^at$|[a-z]At$/;
/** Epoch milliseconds, or seconds, of our time. */
const isEpoch = (value: number): boolean => value > 1_500_000_000 && value < 5_000_000_000_000;

/** What does not have the shape of docs/json.md, as paths. */
function misshapen(value: unknown, path = '', name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((inner, index) => misshapen(inner, `${path}[${index}]`, name));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => misshapen(inner, `${path}.${key}`, key));
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  if (instantName.test(name)) return value === null || (typeof value === 'string' && utc.test(value)) ? [] : [path];
  return isInstant || (typeof value === 'number' && isEpoch(value)) ? [path] : [];
}

test('a value without the shape is found', () => {
  expect(misshapen({ a: [{ dueAt: 1_900_000_000_000 }], since: '2030-01-15T12:00:00Z', endAt: '2030-01-15T12:00:00-05:00' })).toEqual([
    '.a[0].dueAt',
    '.since',
    '.endAt',
  ]);
  expect(misshapen({ at: '2030-01-15T12:00:00.000Z', dueAt: null, rows: 12 })).toEqual([]);
});

test('what commands print with --json is an object with instants in UTC under names that end in At', async () => {
  const ledger = await createLedger();
  expect(await ledger.run('suppress', 'add', '+12125550107', '--expires', '90d')).toMatchObject({ code: 0 });
  const { campaignPath } = await writeCampaign(minimalCampaign, 'name,phone\nAna,+12125550101\n');
  const lines = ['events', 'suppress list'];
  for (const line of [
    'status', 'status spring', 'events spring', 'report spring', 'verify spring --offline', 'doctor',
    'suppress list', 'suppress check +12125550107', `check ${campaignPath} --offline`,
    `results spring --output ${ledger.path('out.csv')}`, 'resolve spring --give-up', 'pause spring',
  ]) {
    const { stdout, stderr } = await ledger.run(...line.split(' '), '--json');
    const parts = lines.some((name) => line.startsWith(name)) ? stdout.trim().split('\n') : [stdout];
    for (const part of parts) {
      const value = JSON.parse(part === '' ? `"${line} printed nothing: ${stderr}"` : part) as unknown;
      expect({ line, type: Array.isArray(value) ? 'list' : typeof value }).toEqual({ line, type: 'object' });
      expect({ line, misshapen: misshapen(value) }).toEqual({ line, misshapen: [] });
    }
  }
}); // prettier-ignore

test('instants of a standstill and of a silent hook have the same shape', () => {
  const since = Date.UTC(2030, 0, 15);
  const standstill = { reason: 'due', since, until: since, calls: null, lines: null, rule: null } as const;
  const told = [idleReasonAsJson(standstill), hooksAsJson({ silentSince: since, completion: null, pause: null })];
  expect(told.flatMap((part) => misshapen(withInstants(part)))).toEqual([]);
});

const without = new Set(['demo', 'schema', 'completion']);

test('every command has --json, but those that docs/json.md names', async () => {
  const page = readFileSync(new URL('../../../../docs/json.md', import.meta.url), 'utf8');
  for (const { name, load } of commands) {
    const command = (await load())(createTerminal());
    const all = [command, ...command.commands];
    const has = all.some(({ options }) => options.some(({ long }) => long === '--json'));
    expect({ name, has }).toEqual({ name, has: !without.has(name) });
    if (!has) expect(page).toContain(`\`${name}\``);
    const leaves = command.commands.filter(({ options }) => !options.some(({ long }) => long === '--json'));
    expect({ name, leaves: without.has(name) ? [] : leaves.map((leaf) => leaf.name()) }).toEqual({ name, leaves: [] });
  }
});

test('every failure that is foreseen has its code in docs/json.md', () => {
  const page = readFileSync(new URL('../../../../docs/json.md', import.meta.url), 'utf8');
  const folder = fileURLToPath(new URL('../../../../src', import.meta.url));
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'));
  const foreseen = /readonly name = '(\w+)' as const;\n\s+readonly (?:exitCode|isBadInput)|extends foreseen\('(\w+)'/g;
  const names = files.flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(foreseen)].map(([, own = '', made = own]) => made),
  );
  expect(names.length).toBeGreaterThan(20);
  expect(names).toEqual(expect.arrayContaining(['UnknownCampaignError', 'WrongStateError']));
  expect(names.map(codeOfName).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
