import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { expect, test } from 'vitest';
import { readCampaignFile } from '../../../src/campaign/file/file.ts';
import { fieldsOf, formParts } from '../../../src/interfaces/console/drafts/parts.ts';
import { importList, readCampaign } from '../../../src/campaign/preflight/import-list.ts';
import { beginSession, createToken } from '../../../src/ledger/console/tokens.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign, noon } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { poison } from '../../support/terminal-poison.ts';
import { DraftWorld, goodCalls, goodList, goodName, goodWords } from './draft-world.ts';
import { apiKey, startPageSandbox } from '../../sandbox/page/window.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

const dayMs = 24 * 3_600_000;

test.for(dialects)('a draft says what would happen, in another process of the server as well: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const path = await (await DraftWorld.over(store)).prepare();
  const admin = await DraftWorld.over(store);
  const text = await admin.page(path, 'admin');
  holds(text, [
    /<span class="big num">3<\/span>\s*<span class="soft">of 4 can be called/,
    /Invalid phone<\/dt>\s*<dd><span class="num">1<\/span>/,
    /Start calling 3 people/,
    /Row 4<[\s\S]*A number without \+ needs a country[\s\S]*name="fix.4.2"\s+value="555"/,
    'equest not to be called again would not be heard',
    'Ends likely',
    'The service was not asked about agent and caller number',
  ]);
  expect(text.match(/class="btn primary"/g)).toHaveLength(1);
  expect(text).not.toContain('2125550131');
});

/** As the command reads a campaign file beside `goodList`. */
async function readFileOf(text: string) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'campaign.yaml'), text);
  writeFileSync(join(folder, 'list.csv'), goodList);
  return readCampaign(await readCampaignFile(join(folder, 'campaign.yaml')), noon);
}

async function openWritten(written: object): Promise<DraftWorld> {
  const world = await DraftWorld.empty();
  const read = await readFileOf(stringify(written));
  await importList({ store: world.store, read, accountId: 'http://service', now: noon, allowPartial: true });
  return world;
}

test('the file that is downloaded is read by the reader of the command, with what was written', async () => {
  const world = await DraftWorld.empty();
  const calls = {
    ...goodCalls,
    hours: 'week',
    'hours.mon': '09:00-12:00, 13:00-17:00',
    holidays: 'US, 2030-12-24',
    ends_at: '2030-03-01T17:00',
    times_zone: 'America/New_York',
    'caps.calls': '3',
    'caps.within': '24h',
  };
  const path = await world.prepare({ calls, words: { ...goodWords, 'opt_out.collected': 'opt_out' } });
  const { headers, text } = await world.console.get(`${path}/campaign.yaml`);
  expect(headers['content-disposition']).toBe('attachment; filename="campaign.yaml"');
  const { rules } = await readFileOf(text);
  expect(rules).toMatchObject({
    agentId: 'agent_reminders',
    callers: { numbers: ['pn_main'] },
    firstMessage: goodWords.first_message,
    variables: { values: { first_name: '{{ First_name }}' }, reference: 'carillon_ref' },
    list: { phoneColumn: 'Mobile phone', idColumn: 'Customer No' },
    retry: { maxAttempts: 2, delays: { no_answer: [4 * 3_600_000, 'next_day'] } },
    pacing: { maxConcurrentCalls: 5 },
    caps: [{ calls: 3, withinMs: dayMs }],
    endsAt: Date.parse('2030-03-01T17:00:00-05:00'),
    optOut: [{ source: 'collected', key: 'opt_out' }],
  });
  expect(rules.calendar.closedOn).toContain('2030-12-24');
});

const week = { ...goodCalls, hours: 'week' };
const unusable: readonly [part: string, fields: Record<string, string>, field: string, says: RegExp][] = [
  ['columns', { 'column.2': '' }, 'column.0', /This is missing; write the name of a column/],
  ['columns', { 'column.2': 'list.phone', 'list.fallback_timezone': 'EST' }, 'list.fallback_timezone', /name of a time zone/],
  ['words', { ...goodWords, first_message: 'Hello {{ nobody }}' }, 'first_message', /no column of the list/],
  ['words', { ...goodWords, first_message: 'Hello {{ First_name' }, 'first_message', /not closed/],
  ['words', { ...goodWords, 'variables.4.name': 'a b', 'variables.4.value': 'x' }, 'variables.4.name', /write a name of letters/],
  ['words', { ...goodWords, 'variables.1.name': 'first_name', 'variables.1.value': 'x' }, 'variables.1.name', /Variable 1 has this name/],
  ['words', { ...goodWords, agent_id: '' }, 'agent_id', /This is missing; write the id of the agent/],
  ['calls', { ...week, 'hours.mon': '9 to 5' }, 'hours.mon', /write &quot;09:00-17:00&quot;/],
  ['calls', week, 'hours', /write the windows of each weekday/],
  ['calls', { ...goodCalls, 'caps.calls': '3' }, 'caps.calls', /write \{ calls: 3, within: 24h \}/],
  ['calls', { ...goodCalls, 'pacing.max_concurrent_calls': 'many' }, 'pacing.max_concurrent_calls', /write a whole number from 1/],
  ['calls', { ...goodCalls, starts_at: '2030-03-01T09:00', times_zone: 'Mars/Base' }, 'times_zone', /name of a time zone/],
  // Also where another choice leaves them unused.
  ['calls', { ...goodCalls, hours: 'office', 'hours.sat': '9am to 5' }, 'hours.sat', /Write &quot;09:00-17:00&quot;/],
  ['calls', { ...goodCalls, times_zone: 'New York' }, 'times_zone', /name of a time zone such as America/],
  ['name', { id: 'My campaign' }, 'id', /write 1 to 64 lower-case letters/],
];

test('what cannot be used is told at its field, kept there, and keeps it from the start', async () => {
  const world = await DraftWorld.empty();
  for (const [part, fields, field, says] of unusable) {
    const path = await world.prepare();
    for (const { status, text } of [await world.save(path, part, fields), await world.save(path, 'start')]) {
      const at = text.indexOf(`id="${field}"`);
      expect([field, status, at > -1]).toEqual([field, 422, true]);
      expect(/aria-invalid="true"/.exec(text.slice(at))?.index, field).toBeLessThan(400);
      expect(text.slice(at)).toMatch(says);
      expect(/ autofocus/.exec(text.slice(at))?.index, field).toBeLessThan(800);
      expect(text.match(/ autofocus/g)).toHaveLength(1);
      expect(text).toMatch(/Saved\. This needs a change before it can start/);
    }
    const written = Object.entries(fields).filter(([name, value]) => value !== '' && !name.startsWith('column.') && name !== 'hours');
    holds(
      await world.console.text(path),
      written.map(([, value]) => value.replaceAll('"', '&quot;')),
    );
  }
});

test('what nobody has written yet is no mistake before somebody wants to start, and stands in what is left to do', async () => {
  const world = await DraftWorld.empty();
  const path = await world.begin();
  const has = [/<span>Agent: This is missing/, /<span class="big num">3<\/span>/];
  holds(await world.page(path), has, [/id="agent_id"[^>]*aria-invalid/]);
  const { status, text: asked } = await world.save(path, 'start');
  expect(status).toBe(422);
  expect(asked).toMatch(/id="agent_id"[^>]*aria-invalid="true"/);
});

test('every field that a part may save stands on the page, and is there to be written', async () => {
  const world = await DraftWorld.empty();
  const { text } = await world.console.get(await world.begin());
  const written = (name: string) => (name === 'variables' ? 'variables.0.name' : name);
  const isThere = (name: string) => text.includes(` name="${written(name)}"`) || text.includes(`<option value="${name}"`);
  expect(formParts.flatMap((part) => fieldsOf[part].filter((name) => !isThere(name)))).toEqual([]);
});

test('agents and numbers are chosen by name, and a variable of the agent that is called like a column gets it by itself', async () => {
  const sandbox = await startPageSandbox();
  const placeholders = { first_name: 'friend', clinic: 'our "clinic"' };
  const changed = await sandbox.ask('PATCH', '/v1/convai/agents/agent_reminders', {
    conversation_config: { agent: { dynamic_variables: { dynamic_variable_placeholders: placeholders } } },
  });
  expect(changed.status).toBe(200);
  const settings = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: apiKey };
  const world = new DraftWorld(await ConsoleWorld.empty(settings));
  const path = await world.begin('phone,first_name,clinic_no\n+12125550131,Ana,7\n');
  const before = await world.page(path);
  holds(before, [/<option value="agent_reminders"\s*>Appointment reminders/, /value="pn_main"\s*\/><b>\+12125550199 · Main line<\/b>/]);
  const speaker = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main' };
  expect((await world.save(path, 'words', speaker)).status).toBe(303);
  const text = await world.page(path);
  holds(text, [
    /name="variables.0.name"\s+class="mono"\s+value="first_name"/,
    /name="variables.0.value"\s+value="\{\{ first_name \}\}"\s+placeholder="else: friend"/,
    /name="variables.1.name"\s+class="mono"\s+value="clinic"[\s\S]*?value=""\s+placeholder="else: our &quot;clinic&quot;"/,
    'Agent and caller number are ready at the service',
  ]);
  holds(await world.yaml(path), ["first_name: '{{ first_name }}'"], ['clinic']);
  await world.save(path, 'words', { ...speaker, 'variables.0.name': 'first_name', 'variables.0.value': '' });
  expect(await world.yaml(path)).not.toContain('{{ first_name }}');
});

test('of two columns for one use, the one that was changed has it; columns that were not sent stay what they are', async () => {
  const world = await DraftWorld.empty();
  const path = await world.begin();
  await world.save(path, 'columns', { 'column.1': 'list.id', 'column.3': 'list.nonsense' });
  holds(await world.console.text(`${path}/campaign.yaml`), ['id: First name', 'phone: Mobile phone'], ['Customer No', 'nonsense']);
});

test('a row is fixed in the draft’s copy of the list, once, and nothing else of it changes', async () => {
  const world = await DraftWorld.empty();
  const { store } = world;
  const list = 'our customers\n\nname;phone;note\nAna;+12125550131;"a;\n""b"" c"\nBen;212 555 O132;x,y\nChloe;+12125550131;\nDan;+12125550133;é;too many\n';
  const path = await world.begin(list);
  const before = await world.page(path);
  expect(before).toContain('3 rows cannot be called');
  const [, listId = ''] = /name="list" value="([^"]*)"/.exec(before) ?? [];
  const fixes = { list: listId, 'fix.2.1': '+1 212 555 0132', 'fix.3.1': '+12125550131' };
  expect((await world.save(path, 'fix', fixes)).status).toBe(303);
  holds(await world.page(path), ['2 rows cannot be called'], ['name="fix.2.1"']);
  const mended = 'name,phone,note\nAna,+12125550131,"a;\n""b"" c"\nBen,+1 212 555 0132,"x,y"\nChloe,+12125550131,\nDan,+12125550133,é,too many\n';
  expect(await world.console.text(`${path}/list-file`)).toBe(mended);
  // Written for a list that was replaced.
  await world.save(path, 'fix', { ...fixes, 'fix.1.1': 'nothing' });
  expect(await world.console.text(`${path}/list-file`)).toBe(mended);
  expect((await store.db.selectFrom('draft_pieces').selectAll().execute()).length).toBe(1);
}); // prettier-ignore

test('the script is answered with the page as it is saved', async () => {
  const world = await DraftWorld.empty();
  const path = await world.begin();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-page-part': 'app' };
  const answer = await world.raw(`${path}/name`, 'name=Pick+up&id=pick+up', headers);
  expect(answer.status).toBe(200);
  holds(answer.text, [/<h1>Pick up<\/h1>/, /id="id"[^>]*aria-invalid="true"/], ['<html', 'autofocus']);
});

test('an id that a campaign has is refused at its field, and at the start', async () => {
  const world = await DraftWorld.empty();
  const path = await world.prepare();
  await beginCampaign(world.store, { campaignId: goodName.id });
  const taken = told(422, /There is a campaign autumn already; write another id/);
  expect(await world.save(path, 'name', goodName)).toMatchObject(taken);
  expect(await world.save(path, 'start', { key: 'a' })).toMatchObject(taken);
});

test('the example is what a call would say, for rows that can be called, as it is written', async () => {
  const world = await DraftWorld.empty();
  const list = 'phone,name\n+12125550131,Ana\n+12125550132,\n+12125550133,"<script>alert(1)</script>"\n';
  const path = await world.begin(list);
  const example = async (line: string) => (await world.save(path, 'example', { first_message: line })).text;
  holds(
    await example('Hello {{ name }} on {{ phone }}'),
    [
      /Hello <mark>Ana<\/mark> on <mark>\+1••••••••31<\/mark>/,
      'Not called: name is empty here.',
      'Hello <mark>&lt;script&gt;alert(1)&lt;/script&gt;</mark>',
    ],
    [/<html|<script/],
  );
  expect(await example('Hello {{ name | size }}')).toContain('>Hello 3<');
  expect(await world.yaml(path)).not.toContain('Hello');
  expect(await example('{{')).toContain('No example yet.');
});

test('another list keeps what fits, and what does not fit any more is told at its field', async () => {
  const world = await DraftWorld.empty();
  const { store } = world;
  const path = await world.prepare();
  const refused = await world.upload('phone\n', { path: `${path}/list` });
  expect(refused).toMatchObject(told(422, 'a header and no rows below it'));
  expect(await world.page(path)).toContain('Start calling 3 people');
  const sent = await world.upload('Handy,Vorname\n+12125550131,Ana\n', { path: `${path}/list`, name: 'neu.csv' });
  expect(locationOf(sent)).toBe(path);
  holds(await world.console.text(path), [
    /<th scope="row" class="mono">Handy<[\s\S]*?<option value="list.phone" selected>/,
    /&quot;First_name&quot;, which is no column/,
    /<textarea[^>]*aria-invalid="true"[^>]*>Hello \{\{ First_name/,
  ]);
  expect((await store.db.selectFrom('draft_pieces').selectAll().execute()).length).toBe(1);
});

test('a draft is its maker’s and an admin’s; somebody else, a reader and another site get nothing of it', async () => {
  const world = await DraftWorld.empty();
  const { store, console } = world;
  const path = await world.begin();
  const { token } = await createToken(store, { name: 'other', role: 'operate', lastsMs: null, nowReal: noon });
  const cookie = `carillon_session=${await beginSession(store, { tokenId: token.tokenId, nowReal: noon })}`;
  for (const step of ['', '/rehearsal', '/campaign.yaml', '/list-file', '/discard']) {
    const answer = await console.get(`${path}${step}`, 'operate', { cookie });
    expect([step, answer.status]).toEqual([step, 404]);
    expect(answer.text).not.toContain('First name');
    expect([step, (await console.get(`${path}${step}`, 'read')).status]).toEqual([step, 403]);
    expect([step, (await console.get(`${path}${step}`, 'admin')).status]).toEqual([step, 200]);
  }
  expect((await console.get('/new', 'read')).status).toBe(403);
  expect((await world.upload(goodList, { role: 'read' })).status).toBe(403);
  expect((await world.raw('/new', new FormData(), { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect(await console.text('/new', 'operate', { cookie })).toContain('There is none.');
  for (const page of ['/new', '/', '/?show=going']) expect(await console.text(page, 'admin'), page).toContain(`href="${path}"`);
  expect(await console.text('/')).toMatch(/list<[\s\S]*Draft[\s\S]*list\.csv[\s\S]*deleted in 7 days unless you go on/);
  for (const text of [await console.text('/', 'operate', { cookie }), await console.text('/', 'read'), await console.text('/?show=ended')])
    expect(text).not.toContain(path);
});

test('a draft that was discarded, or that nobody has touched for a week, says so in any tab', async () => {
  const world = await DraftWorld.empty();
  const path = await world.prepare();
  expect(await world.console.text(`${path}/discard`)).toContain('This cannot be undone');
  expect(locationOf(await world.save(path, 'discard'))).toBe('/new');
  const gone = /This draft is not here: it was started or discarded, or nobody has touched it for seven days/;
  expect(await world.save(path, 'calls', goodCalls)).toMatchObject(told(404, gone));
  expect(await world.save(path, 'start', { campaign: 'autumn' })).toMatchObject({ status: 404 });
  const old = await world.begin();
  world.console.api.at += 7 * dayMs;
  expect(await world.console.get(old)).toMatchObject(told(404, gone));
  expect(await world.console.text('/new')).toContain('There is none.');
});

test('a start that is refused keeps the draft, and says why in the words of the API', async () => {
  const world = await DraftWorld.empty();
  const path = await world.prepare();
  const fieldsIn = (text: string) => hiddenFields(text.replace('<form id="start" class="stack"', '<form class="act"'));
  const fields = fieldsIn(await world.console.text(path));
  expect(fields).toMatchObject({ campaign: 'autumn' });
  const refused = await world.save(path, 'start', fields);
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toMatch(/<p class="refused" role="alert">The service at http:\/\/127.0.0.1:9 cannot be reached/);
  expect(fieldsIn(refused.text)['key']).not.toBe(fields['key']);
  expect((await world.console.get(path)).status).toBe(200);
});

test('what others have written stands in the page as text', async () => {
  const world = await DraftWorld.empty();
  const evil = `<script>alert(1)</script>"'`;
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const list = `phone,${quoted(evil)}\n+12125550131,${quoted(evil + poison)}\n`;
  const path = await world.begin(list, { name: `<u>"x.csv` });
  await world.save(path, 'words', { first_message: evil });
  for (const step of ['', '/rehearsal', '/discard']) {
    const { text } = await world.console.get(`${path}${step}`);
    expect(text, step).not.toMatch(/<script>|<u>/);
    // eslint-disable-next-line no-control-regex
    expect(text.match(/[\u0000-\u0008\u001b\u009b]/g), step).toBeNull();
  }
});

test('the page asks for the basis, names it, and says which rules are unconfirmed for how many rows', async () => {
  const world = await DraftWorld.empty();
  const people = `${goodList}\n5,Eve,+33199001234,Friday\n6,Fay,+15045550135,Friday`.split('\n');
  const list = people.map((line, at) => `${line},${at === 0 ? 'Agreed,Said' : '2026-01-05,yes'}`).join('\n');
  const open = await world.prepare({}, list);
  holds(await world.page(open), [
    /FR: the law asks for consent to calls that sell anything \(1 row; [^)]*2025-594/,
    /basis: is missing, and the law asks for consent in FR \(1 row;/,
    'It cannot start',
    'us-la for 1 row (which legal holidays)',
  ]);
  await world.save(open, 'calls', { ...goodCalls, basis: 'consent' });
  const ofList = { 'consent.source_of_list': 'web form', 'consent.text_of_list': 'terms v3' };
  await world.save(open, 'columns', { 'column.4': 'consent.at', 'column.5': 'consent.yes', ...ofList });
  holds(await world.page(open), [/FR: [^<]*The campaign file states basis: consent\./], ['It cannot start']);
  expect(await world.yaml(open)).toContain('basis: consent');
});

test('a copy says what the file of its campaign says, also what the page does not ask, without its begin and its end', async () => {
  const written = {
    id: 'spring',
    name: 'Spring',
    agent_id: 'agent_reminders',
    from_phone_number_id: ['pn_main', 'pn_other'],
    list: { file: 'list.csv', phone: 'Mobile phone', id: 'Customer No', default_region: 'US' },
    first_message: 'Hello {{ First_name }}: {{ Day }}.',
    variables: { reference: 'own_ref', values: { first_name: '{{ First_name }}' } },
    hours: { mon: ['09:00-12:00', '13:00-17:00'], tue: '10:00-16:00' },
    holidays: ['US', '2030-12-24'],
    starts_at: '2030-03-01T09:00:00-05:00',
    ends_at: '2030-03-12T09:00:00-05:00',
    caps: [{ calls: 3, within: '24h' }, { after_talk: '7d' }],
    retry: { max_attempts: 4, busy: '30m', failed: ['2h', 'next_day'] },
    pacing: { max_concurrent_calls: 7, starts_per_minute: 30 },
    opt_out: [{ collected: 'opt_out', equals: [true, 'true', 'yes'] }],
    law: { BR: 'none' },
    price: { per_minute: 0.125, currency: 'USD' },
    breaker: { min_calls: 30 },
  };
  const world = await openWritten(written);
  expect(await world.console.text('')).toContain('/new?copy=spring');
  expect(await world.console.text('/new?copy=spring')).toContain('action="/new?copy=spring"');
  const path = await world.begin(goodList, { path: '/new?copy=spring' });
  const copied = async () => parse(await world.yaml(path)) as Record<string, unknown>;
  const { starts_at: _, ends_at: __, ...rest } = written;
  expect(await copied()).toEqual({ ...rest, id: 'spring-2' });
  expect(await world.page(path)).toMatch(/its file has[\s\S]*<code>breaker<\/code>/);
  await world.save(path, 'calls', { hours: 'any', 'retry.max_attempts': '2', 'caps.calls': '1', 'caps.within': '48h' });
  expect(await copied()).toMatchObject({
    hours: 'any',
    retry: { max_attempts: 2 },
    caps: [{ calls: 1, within: '48h' }],
    breaker: written.breaker,
  });
  await world.save(path, 'plain');
  expect(await copied()).not.toHaveProperty('breaker');
  expect((await world.console.get('/new?copy=none')).status).toBe(404);
  expect((await world.console.get('/new?copy=spring', 'read')).status).toBe(403);
});

test('an empty list of a campaign that stays open is told to wait for people, and is no mistake', async () => {
  const list = { file: 'list.csv', phone: 'Mobile phone', id: 'Customer No' };
  const written = { id: 'leads', agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', list, hours: 'any' };
  const world = await openWritten({ ...written, stays_open: { expires_after: '2h' } });
  const [head = ''] = goodList.split('\n');
  const text = await world.page(await world.begin(`${head}\n`, { path: '/new?copy=leads' }));
  holds(text, ['The list is empty: it waits for people who are added'], ['Nobody would be called']);
  expect(await world.upload(`${head}\n`)).toMatchObject(told(422, 'no rows below it'));
});

test('in a country whose law somebody knows, the hours of the campaign alone hold; where there is a rule for a territory, it stays', async () => {
  const world = await DraftWorld.empty();
  const open = await world.prepare({}, `${goodList}\n5,Eva,+442079460123,Friday`);
  expect(await world.page(open)).toContain('No rule by law is known for GB (1 row)');
  await world.save(open, 'calls', { ...goodCalls, law: 'gb' });
  expect(await world.page(open)).not.toContain('No rule by law is known');
  expect(parse(await world.yaml(open))).toMatchObject({ law: { GB: 'none' } });
  for (const law of ['PR', 'Brasil']) {
    await world.save(open, 'calls', { ...goodCalls, law });
    expect(await world.page(open)).toMatch(/id="law-problem"/);
  }
});

test('who has another version of a part before them than is stored is told what differs, and keeps what they have written', async () => {
  const world = await DraftWorld.empty();
  const path = await world.begin();
  const [, version = ''] = /id="form-name"[\s\S]*?name="version" value="(\w+)"/.exec(await world.console.text(path)) ?? [];
  await world.save(path, 'name', { name: 'First', id: 'first', version });
  const late = await world.save(path, 'name', { name: 'Second', id: 'first', version });
  expect(late).toMatchObject(told(409, /Changed in another window[\s\S]*Name: First[\s\S]*value="Second"/));
});
