import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { listActions } from '../../../src/interfaces/console/actions/list.ts';
import { personActions } from '../../../src/interfaces/console/actions/people.ts';
import type { ConsoleAction } from '../../../src/interfaces/console/core/action.ts';
import type { ViewRequest } from '../../../src/interfaces/console/core/view.ts';
import { html } from '../../../src/presentation/html/html.ts';
import { buildRow, buildRules, hourMs } from '../../support/campaign-rules.ts';
import { locationOf, told } from '../../support/answers.ts';
import { poison, obeyed } from '../../support/terminal-poison.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon, numbers, type ScenarioOptions } from '../../ledger/scenario.ts';
import { ConsoleWorld } from './console-world.ts';

async function openWorld(options: ScenarioOptions = {}) {
  const store = await openCleanStore('sqlite');
  await beginProven(store, options);
  const console = await ConsoleWorld.over(store);
  const lines: object[] = [];
  console.api.context.logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as object) });
  return { store, console, lines };
}

/** What a form shows beside its fields, for answers that no request can force. */
async function shownFor({ api }: ConsoleWorld, action: ConsoleAction | undefined, row: object): Promise<string> {
  const params = { campaign: 'spring' };
  const asked = {
    context: api.context,
    holder: { role: 'read' },
    now: noon,
    params,
    query: () => '',
    numbersShown: () => true,
  } as unknown as ViewRequest;
  const press = await action?.form(asked, { fields: null, refused: null, answer: { rows: [row], round: null } });
  return html`${press?.found} ${press?.body}`.text;
}

const openList = {
  firstMessage: 'Hello.',
  variables: { key: 'dynamic_variables', values: {}, reference: null },
  list: { ...buildRules().list, columns: ['id', 'phone'], phoneColumn: 'phone', idColumn: 'id' },
  staysOpen: { expiresAfterMs: hourMs, newestFirst: false },
};

test('a download with a parameter that is misspelt is refused, and the role is judged before it', async () => {
  const { console } = await openWorld();
  for (const path of ['results.csv?outcom=completed', 'report.html?peple=true'])
    expect(await console.get(path)).toMatchObject(told(400, /The query has no parameter[^<]*Did you mean/));
  expect(await console.get('results.csv?outcom=completed', 'read')).toMatchObject(told(403, 'This takes the role operate'));
});

test('a defect behind a form is logged with its kind and where it came from, and a database that is away as a warning', async () => {
  const { console, store, lines } = await openWorld();
  await console.submit('pause');
  expect(await console.submit('resume')).toMatchObject({ status: 500 });
  const route = '/campaigns/:campaign/resume';
  expect(lines).toMatchObject([
    {
      level: 50,
      msg: 'a view failed',
      error: 'Error',
      route,
      at: expect.arrayContaining([expect.stringContaining('perform.ts')]) as string[],
    },
  ]);
  await sql`create trigger refuse before update on answers begin select raise(abort, 'the disk is full'); end`.execute(store.db);
  expect(await console.submit('limits', { batchSize: '3' })).toMatchObject({ status: 503 });
  const facts = { error: 'SqliteError', code: expect.stringMatching(/^SQLITE_/) as string, route: '/campaigns/:campaign/limits' };
  expect(lines.slice(1)).toMatchObject([{ level: 40, msg: 'the database or Temporal did not answer', ...facts }]);
});

test('what fails before the first byte of a file is answered without the headers of one', async () => {
  const { console } = await openWorld();
  const { context } = console.api;
  const failing = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no row can be read')) }) };
  Object.assign(context.aside, { stream: () => failing });
  const answers = [await console.get('results.csv'), await console.api.ask('GET /campaigns/spring/results.csv')];
  for (const { status, headers } of answers) {
    expect(status).toBe(500);
    for (const name of ['content-disposition', 'content-range', 'accept-ranges']) expect(headers).not.toHaveProperty(name);
    expect(headers['content-type']).toMatch(/html|problem/);
  }
});

test('additions of the page count among those of the server, and one too many is told in its form', async () => {
  const { console } = await openWorld({ rules: openList, rows: [] });
  const ends = Array.from({ length: 100 }, () => console.api.app.beginAdd());
  const add = (at: number) => console.submit('add', { 'cell.id': `lead-${at}`, 'cell.phone': numbers(3)[at] ?? '' });
  const refused = await add(1);
  expect(refused).toMatchObject(told(429, /role="alert">More rows are being added/));
  expect(refused.text).toContain('value="lead-1"');
  ends[0]?.();
  for (const at of [1, 2]) expect(locationOf(await add(at))).toBe(`/campaigns/spring/rows/${at}`);
});

test('a rejected row whose answer says nothing is told with its own reason', async () => {
  const [one = ''] = numbers(1);
  const rejected = { ...buildRow(2, '', ['12', 'Guest']), e164: null, verdict: 'rejected' as const, reason: 'invalid_phone' };
  const { console } = await openWorld({ rows: [buildRow(1, one, [one, 'Guest']), rejected] });
  const text = await shownFor(console, listActions[0], { row: 2, result: 'unchanged', code: null, column: null, hint: null });
  expect(text).toContain('Invalid phone');
});

test('what is said of somebody who was not added is text that nothing obeys', async () => {
  const { console } = await openWorld({ rules: openList, rows: [] });
  const text = await shownFor(console, personActions[0], { hint: `holds ${poison}`, column: `phone${poison}` });
  expect(text).toContain('Nobody was added. phone');
  expect(text).not.toMatch(obeyed);
});
