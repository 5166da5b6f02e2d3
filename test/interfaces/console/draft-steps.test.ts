import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCampaignFile } from '../../../src/campaign/file/file.ts';
import { fieldsOf, formSteps } from '../../../src/interfaces/console/drafts/steps.ts';
import { readCampaign } from '../../../src/campaign/preflight/import-list.ts';
import { beginSession } from '../../../src/ledger/console/sessions.ts';
import { createToken } from '../../../src/ledger/console/tokens.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign, noon } from '../../ledger/scenario.ts';
import { dialects, openTestStore } from '../../ledger/test-stores.ts';
import { poison } from '../../support/terminal-poison.ts';
import { DraftWorld, goodCalls, goodList, goodWords } from './draft-world.ts';
import { hiddenFields } from './console-world.ts';

const dayMs = 24 * 3_600_000;

test.for(dialects)('a draft goes from list to check, in another process of the server as well: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const path = await (await DraftWorld.over(store)).prepare();
  const admin = await DraftWorld.over(store);
  const { status, text } = await admin.console.get(`${path}/check`, 'admin');
  expect(status, text).toBe(200);
  expect(text).toContain('Ready to start.');
  expect(text).toMatch(/<strong><span class="num">3<\/span> people<\/strong>/);
  expect(text).toMatch(/Row 4 \(line 5\), Mobile phone: a number without \+ needs a country/);
  expect(text).toContain('a request not to be called again would not be heard'.slice(2));
  expect(text).not.toContain('2125550131');
});

test('the file that is downloaded is read by the reader of the command, with what was written', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const calls = {
    ...goodCalls,
    hours: 'week',
    'hours.mon': '09:00-12:00, 13:00-17:00',
    holidays: 'US, 2030-12-24',
    ends_at: '2030-03-01T17:00',
    times_zone: 'America/New_York',
    'caps.calls': '3',
    'caps.within': '24h',
    'opt_out.collected': 'opt_out',
  };
  const path = await world.prepare({ calls });
  const { headers, text } = await world.console.get(`${path}/campaign.yaml`);
  expect(headers['content-disposition']).toBe('attachment; filename="campaign.yaml"');
  const folder = mkdtempSync(join(tmpdir(), 'carillon-draft-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'campaign.yaml'), text);
  writeFileSync(join(folder, 'list.csv'), goodList);
  const { rules } = await readCampaign(await readCampaignFile(join(folder, 'campaign.yaml')), noon);
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

test.for<[string, 'columns' | 'words' | 'calls', Record<string, string>, string, RegExp]>([
  ['no phone', 'columns', { 'list.phone': '' }, 'list.phone', /This is missing; write the name of a column/],
  ['no such column', 'columns', { 'list.phone': 'Mobil' }, 'list.phone', /no column of the list.*Mobile phone/],
  ['no such zone', 'columns', { 'list.phone': 'Mobile phone', 'list.fallback_timezone': 'EST' }, 'list.fallback_timezone', /name of a time zone/],
  ['an unknown column', 'words', { first_message: 'Hello {{ nobody }}' }, 'first_message', /no column of the list/],
  ['a half template', 'words', { first_message: 'Hello {{ First_name' }, 'first_message', /not closed/],
  ['a name with a blank', 'words', { 'variables.4.name': 'a b', 'variables.4.value': 'x' }, 'variables.0.name', /write a name of letters/],
  ['a name twice', 'words', { 'variables.0.name': 'a', 'variables.1.name': 'a' }, 'variables.1.name', /Variable 1 has this name/],
  ['hours in words', 'calls', { ...goodCalls, hours: 'week', 'hours.mon': '9 to 5' }, 'hours.mon', /write &quot;09:00-17:00&quot;/],
  ['hours on no day', 'calls', { ...goodCalls, hours: 'week' }, 'hours', /write the windows of each weekday/],
  ['an id with blanks', 'calls', { ...goodCalls, id: 'My campaign' }, 'id', /write 1 to 64 lower-case letters/],
  ['half a cap', 'calls', { ...goodCalls, 'caps.calls': '3' }, 'caps.calls', /write \{ calls: 3, within: 24h \}/],
  ['a limit in words', 'calls', { ...goodCalls, 'pacing.max_concurrent_calls': 'many' }, 'pacing.max_concurrent_calls', /write a whole number from 1/],
  ['a time in no zone', 'calls', { ...goodCalls, starts_at: '2030-03-01T09:00', times_zone: 'Mars/Base' }, 'starts_at', /with its offset from UTC/],
  ['no agent', 'calls', { ...goodCalls, agent_id: '' }, 'agent_id', /This is missing; write the id of the agent/],
])('what cannot be used is told at its field, kept there and not saved: %s', async ([, step, fields, field, says]) => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const path = await world.begin();
  const saved = (await world.console.get(`${path}/campaign.yaml`)).text;
  const { status, text } = await world.console.post(`${path}/${step}`, fields);
  expect(status).toBe(422);
  const at = text.indexOf(`id="${field}"`);
  expect(at, field).toBeGreaterThan(-1);
  expect(/aria-invalid="true"/.exec(text.slice(at))?.index).toBeLessThan(400);
  expect(text.slice(at)).toMatch(says);
  expect(text).toContain('Not saved yet.');
  expect((await world.console.get(`${path}/campaign.yaml`)).text).toBe(saved);
}); // prettier-ignore

test.each(formSteps)('every field that the step %s may save stands in its form, and is there to be written', async (step) => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const { text } = await world.console.get(`${await world.begin()}/${step}`);
  const missing = fieldsOf(step).filter((name) => !text.includes(` name="${name === 'variables' ? 'variables.0.name' : name}"`));
  expect(missing).toEqual([]);
});

test('an id that a campaign has is refused at its field, and at the start', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const path = await world.prepare();
  const { campaignId } = await beginCampaign(store, { campaignId: 'autumn' });
  expect(campaignId).toBe('autumn');
  const again = await world.console.post(`${path}/calls`, goodCalls);
  expect(again).toMatchObject({
    status: 422,
    text: expect.stringMatching(/There is a campaign autumn already; write another id/),
  });
  const { text } = await world.console.get(`${path}/check`);
  expect(text).toMatch(/Not ready yet[\s\S]*There is a campaign autumn already/);
  expect(text).not.toContain('>Start autumn<');
});

test('the example is what a call would say, for rows that can be called, as it is written and by the button', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const list = 'phone,name\n+12125550131,Ana\n+12125550132,\n+12125550133,"<script>alert(1)</script>"\n';
  const path = await world.begin(list);
  const fields = new URLSearchParams({ first_message: 'Hello {{ name }} on {{ phone }}' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const part = await world.raw(`${path}/example`, fields, { ...headers, 'x-page-part': 'example' });
  expect(part.status).toBe(200);
  expect(part.text).toContain('>Hello Ana on +1••••••••31<');
  expect(part.text).toContain('Not called: name is empty here.');
  expect(part.text).toContain('Hello &lt;script&gt;alert(1)&lt;/script&gt;');
  expect(part.text).not.toMatch(/<html|<script/);
  const whole = await world.raw(`${path}/example`, fields, headers);
  expect(whole.text).toContain('>Hello Ana on +1••••••••31<');
  expect(whole.text).toContain('Hello {{ name }} on {{ phone }}</textarea');
  expect((await world.console.get(`${path}/campaign.yaml`)).text).not.toContain('Hello');
  const broken = await world.raw(`${path}/example`, 'first_message=%7B%7B', { ...headers, 'x-page-part': 'example' });
  expect(broken.text).toContain('No example yet.');
});

test('another list keeps what fits, and what does not fit any more is told at its step', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const path = await world.prepare();
  const refused = await world.upload('phone\n', { path: `${path}/list` });
  expect(refused.status).toBe(422);
  expect((await world.console.get(`${path}/check`)).text).toContain('Ready to start.');
  const sent = await world.upload('Handy,Vorname\n+12125550131,Ana\n', { path: `${path}/list`, name: 'neu.csv' });
  expect(sent).toMatchObject({ status: 303, headers: { location: `${path}/columns` } });
  expect((await world.console.get(`${path}/columns`)).text).toMatch(/<option value="Handy" selected>/);
  expect((await world.console.get(`${path}/words`)).text).toMatch(/&quot;First_name&quot;, which is no column/);
  const { text } = await world.console.get(`${path}/check`);
  expect(text).toMatch(/Look through these steps first:[\s\S]*Columns/);
  expect(text).not.toContain('<button>Start');
  expect((await store.db.selectFrom('draft_pieces').selectAll().execute()).length).toBe(1);
});

test('a draft is its maker’s and an admin’s; somebody else, a reader and another site get nothing of it', async () => {
  const store = await openTestStore('sqlite');
  const world = await DraftWorld.over(store);
  const path = await world.begin();
  const { token } = await createToken(store, { name: 'other', role: 'operate', lastsMs: null, nowReal: noon });
  const { tokenId } = token;
  const cookie = `carillon_session=${await beginSession(store, { tokenId, nowReal: noon })}`;
  const { app } = world.console.api;
  for (const step of ['', '/list', '/columns', '/words', '/calls', '/check', '/campaign.yaml', '/discard']) {
    const answer = await app.inject({ method: 'GET', url: `${path}${step}`, headers: { cookie } });
    expect(answer.statusCode, step).toBe(404);
    expect(answer.body).not.toContain('First name');
    expect((await world.console.get(`${path}${step}`, 'read')).status, step).toBe(403);
    expect([200, 303]).toContain((await world.console.get(`${path}${step}`, 'admin')).status);
  }
  expect((await world.console.get('/new', 'read')).status).toBe(403);
  expect((await world.upload(goodList, { role: 'read' })).status).toBe(403);
  const strange = await world.raw('/new', new FormData(), { 'sec-fetch-site': 'cross-site' });
  expect(strange.status).toBe(403);
  const own = await app.inject({ method: 'GET', url: '/new', headers: { cookie } });
  expect(own.body).toContain('There is none.');
  expect((await world.console.get('/new', 'admin')).text).toContain(`href="${path}"`);
});

test('a draft that was discarded, or that nobody has touched for a week, says so in any tab', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const path = await world.prepare();
  expect((await world.console.get(`${path}/discard`)).text).toContain('This cannot be undone');
  expect(await world.console.post(`${path}/discard`, {})).toMatchObject({ status: 303, headers: { location: '/new' } });
  const gone = /This draft is not here: it was started or discarded, or nobody has touched it for seven days/;
  expect(await world.console.post(`${path}/calls`, goodCalls)).toMatchObject({
    status: 404,
    text: expect.stringMatching(gone),
  });
  expect(await world.console.post(`${path}/check`, { campaign: 'autumn' })).toMatchObject({ status: 404 });
  const old = await world.begin();
  world.console.api.at += 7 * dayMs;
  expect(await world.console.get(`${old}/columns`)).toMatchObject({ status: 404, text: expect.stringMatching(gone) });
  expect((await world.console.get('/new')).text).toContain('There is none.');
});

test('a start that is refused keeps the draft, and says why in the words of the API', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const path = await world.prepare();
  const fields = hiddenFields((await world.console.get(`${path}/check`)).text);
  expect(fields).toMatchObject({ campaign: 'autumn' });
  const refused = await world.console.post(`${path}/check`, fields);
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toMatch(/<p class="refused" role="alert">The service at http:\/\/127.0.0.1:9 cannot be reached/);
  expect(hiddenFields(refused.text)['key']).not.toBe(fields['key']);
  expect((await world.console.get(`${path}/check`)).status).toBe(200);
});

test('what others have written stands in the page as text', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const evil = `<script>alert(1)</script>"'`;
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const list = `phone,${quoted(evil)}\n+12125550131,${quoted(evil + poison)}\n`;
  const path = await world.begin(list, { name: `<u>"x.csv` });
  await world.console.post(`${path}/words`, { first_message: evil });
  for (const step of ['/list', '/columns', '/words', '/calls', '/check', '/discard']) {
    const { text } = await world.console.get(`${path}${step}`);
    expect(text, step).not.toMatch(/<script>|<u>/);
    // eslint-disable-next-line no-control-regex
    expect(text.match(/[\u0000-\u0008\u001b\u009b]/g), step).toBeNull();
  }
});

test('the check on the page asks for the basis, names it, and says which rules are unconfirmed for how many rows', async () => {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const list = `${goodList}\n5,Eve,+33199001234,Friday\n6,Fay,+15045550135,Friday`;
  const open = await world.prepare({}, list);
  const asked = (await world.console.get(`${open}/check`)).text;
  expect(asked).toMatch(/FR: the law asks for consent to calls that sell anything \(1 row; [^)]*2025-594/);
  expect(asked).toMatch(/basis: is missing, and the law asks for consent in FR \(1 row;/);
  expect(asked).toContain('Cannot start.');
  expect(asked).not.toContain('Start autumn');
  expect(asked).toContain('us-la for 1 row (which legal holidays)');
  await world.console.post(`${open}/calls`, { ...goodCalls, basis: 'consent' });
  const stated = (await world.console.get(`${open}/check`)).text;
  expect(stated).toMatch(/FR: [^<]*The campaign file states basis: consent\./);
  expect(stated).toContain('Start autumn');
  expect((await world.console.get(`${open}/campaign.yaml`)).text).toContain('basis: consent');
});
