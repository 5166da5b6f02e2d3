import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCheckedLedger, runCheck } from '../../../../src/interfaces/cli/check/check.ts';
import { Around } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { minimalCampaign, writeCampaign, messageOf } from '../../../list/campaign-folder.ts';
import { beginProven, noon, numbers } from '../../../ledger/scenario.ts';
import { openCleanStore } from '../../../ledger/clean-store.ts';
import { dialects, emptyDatabase, openAt } from '../../../ledger/test-stores.ts';
import { buildRow, buildRules, hourMs } from '../../../support/campaign-rules.ts';
import { createTerminal } from '../terminal.ts';
import { readCampaignFile } from '../../../../src/campaign/file/file.ts';
import { applyUpdate, openUpdate } from '../../../../src/operations/control/update.ts';
import { importList, readCampaign } from '../../../../src/campaign/preflight/import-list.ts';
import { readLawForecast } from '../../../../src/ledger/read/campaign-report.ts';
import { findCampaign } from '../../../../src/ledger/rows/campaigns.ts';
import { renderHtmlReport } from '../../../../src/presentation/report/html-report.ts';
import { auditHours } from '../../../../src/verify/rules/hours.ts';
import { readAuditedRules } from '../../../../src/verify/judged-rules.ts';
import { sampleCampaign, sampleReport } from '../../../presentation/report/sample-report.ts';

const monday = Date.UTC(2026, 0, 5, 15);

async function check(law: string, { now = monday, rules = '' } = {}) {
  const { campaignPath, folder } = await writeCampaign(`${minimalCampaign}${law}`, 'phone\n+12125550101\n');
  if (rules !== '') await writeFile(join(folder, 'my-rules.yaml'), rules);
  const run = async (json: boolean) => {
    const io = createTerminal({ now: () => now, env: { CARILLON_DB: '/nowhere/carillon.db' } });
    await runCheck(io, { campaignPath, json, rowsPath: null });
    return io.written();
  };
  const { stdout, stderr } = await run(false);
  const { campaign } = JSON.parse((await run(true)).stdout) as { campaign: { law: unknown } };
  return { stdout, stderr, law: campaign.law, folder };
}

test('the date of the packaged rules is told, and that they are off, and the release of the time-zone data', async () => {
  const on = await check('');
  expect(on.stdout).toMatch(/^Law {7}rules as of 2026-11-24$/m);
  expect(on.stdout).toMatch(/^Clocks {4}time-zone data 20\d\d[a-z]+$/m);
  expect(on.law).toEqual({ rules: expect.any(Number), packagedAsOf: '2026-11-24', own: null, none: [] });
  const off = await check('law: off\n');
  expect(off.stdout).toMatch(/^Law {7}off: calling hours and caps by law do not hold$/m);
  expect(off.law).toBeNull();
});

test("packaged rules that a file of one's own replaces are told by their ids", async () => {
  const rules = `as_of: 2026-01-01
rules:
  - { id: us-ga, country: US, region: GA, hours: { daily: '09:00-19:00' }, source: our counsel }
  - { id: us-fl, country: US, region: FL, hours: { daily: '08:00-21:00' }, source: our counsel }
`;
  const { stdout, law, folder } = await check('law: ./my-rules.yaml\n', { rules });
  const path = join(folder, 'my-rules.yaml');
  expect(stdout).toContain(`Law       rules as of 2026-11-24
          ${path} as of 2026-01-01
          It replaces us-fl; adds us-ga.
`);
  expect(law).toMatchObject({ own: { path, asOf: '2026-01-01', replaced: ['us-fl'], added: ['us-ga'] } });
});

test('old rules are warned about by the clock of the check', async () => {
  const old = /^Warning: the rules by law that come with Carillon are as of 2026-11-24, more than 6 months ago/m;
  expect((await check('', { now: Date.UTC(2027, 4, 24) })).stderr).toMatch(old);
  expect((await check('', { now: Date.UTC(2027, 4, 23) })).stderr).not.toMatch(old);
  expect((await check('law: off\n', { now: Date.UTC(2027, 4, 24) })).stderr).not.toMatch(old);
});

test('check names the countries without a rule, when people there are called, and how to say otherwise', async () => {
  const list = 'phone\n+5511912345678\n+12125550101\n+5511912345679\n+81312345678\n';
  const told = async (law: string) => {
    const { campaignPath } = await writeCampaign(`${minimalCampaign}${law}`, list);
    const io = createTerminal({ now: () => monday, env: { CARILLON_DB: '/nowhere/carillon.db' } });
    await runCheck(io, { campaignPath, json: true, rowsPath: null });
    const { stdout, stderr } = io.written();
    return { stderr, withoutRule: (JSON.parse(stdout) as { withoutRule: unknown }).withoutRule };
  };
  const both = await told('');
  expect(both.stderr).toMatch(
    /^Warning: no rule by law is known for BR \(2 rows\), JP \(1 row\): nobody there is called outside of mon-fri 09:00-20:00 of their own time, nor on public holidays that are known there; name a file with a rule of your own under law, or law: \{ BR: none \} if the hours of the campaign are to hold alone there\.$/m,
  );
  expect(both.withoutRule).toEqual([
    { country: 'BR', rows: 2 },
    { country: 'JP', rows: 1 },
  ]);
  expect((await told('law: { BR: none }\n')).withoutRule).toEqual([{ country: 'JP', rows: 1 }]);
  expect(await told('law: off\n')).toMatchObject({
    stderr: expect.not.stringContaining('no rule by law'),
    withoutRule: [],
  });
});

test.each(dialects)('calls of another campaign count for the caps of the law where the row is (%s)', async (dialect) => {
  const location = await emptyDatabase(dialect);
  const spring = await beginProven(await openAt(location));
  await spring.dial(1);
  const dates = { hours: null, closedOn: [], from: null, until: null };
  const caps = [{ by: 'number' as const, calls: 1, withinMs: 24 * hourMs }];
  const law = [{ ...dates, id: 'us-fl-calls', country: 'US', region: 'FL', caps, source: 'test' }];
  const config = readConfig({ CARILLON_DB: location.sqlitePath, DATABASE_URL: location.databaseUrl });
  const at = noon + hourMs;
  const ledger = await openCheckedLedger(config, { campaignId: 'summer', rules: buildRules({ law }), at });
  onTestFinished(() => ledger.close());
  const regions = [['FL'], ['GA'], null];
  const rows = numbers(3).map((e164, index) => ({
    ...buildRow(index + 1, e164),
    line: index + 2,
    regions: regions[index] ?? null,
    notBefore: null,
    expiresAt: null,
  }));
  const found = await ledger.look(rows);
  const allowed = rows.map(({ e164, country, regions: states }) =>
    found?.capsAllowAt({ e164, person: null, place: { country, regions: states } }),
  );
  // No record shows when they rang.
  const until = noon + 24 * hourMs + buildRules().timing.dispatchMarginMs;
  expect(allowed).toEqual([until, at, until]);
});

test('carillon doctor names the date of the packaged rules, and warns when they are old', async () => {
  const name = 'Rules by law';
  const detail = expect.stringMatching(/^\d+ rules as of 2026-11-24$/);
  const lawAt = (now: number) => findingsOf(new Around(readConfig({}), now), [name]);
  expect(await lawAt(monday)).toEqual([{ name, status: 'ok', detail, advice: null }]);
  expect(await lawAt(Date.UTC(2027, 4, 24))).toMatchObject([{ name, status: 'warning', detail }]);
});

/** A Tuesday after the French law came into force. */
const now = Date.UTC(2026, 10, 24, 15);
const list = [
  'phone,state,agreed',
  '+33199001234,',
  '+33199001235,',
  '+15045550101,LA',
  '+12075550102,ME',
  '+15045550103,LA',
  '+12125550104,NY',
  '+5511912345678,',
]
  .map((line, at) => (at === 0 ? `${line}\n` : `${line},2026-01-05\n`))
  .join('');
const consented = 'basis: consent\nconsent: { at: agreed, source: agreed, text: agreed }\n';
const yaml = minimalCampaign.replace('phone: phone }', 'phone: phone, state: state }');

async function checkOutlook(more: string, at = now) {
  const { campaignPath } = await writeCampaign(`${yaml}${more}`, list);
  const run = async (json: boolean) => {
    const io = createTerminal({ now: () => at, env: { CARILLON_DB: '/nowhere/carillon.db' } });
    let refusal = '';
    try {
      await runCheck(io, { campaignPath, json, rowsPath: null });
    } catch (error) {
      refusal = (error as Error).message.replace(/^.*campaign\.yaml:/, '');
    }
    return { ...io.written(), refusal };
  };
  const { stdout, refusal } = await run(false);
  const { law, startable } = JSON.parse((await run(true)).stdout) as { law: unknown; startable: boolean };
  return { said: stdout.replaceAll(/\s+/g, ' '), refusal, law, startable };
}

test('check asks for the basis where the law forbids calls without consent, and a start is refused without it', async () => {
  const { said, refusal, startable } = await checkOutlook('');
  expect(said).toMatch(
    /FR: the law asks for consent to calls that sell anything \(2 rows; Code de la consommation, art\. L223-1 as amended by loi 2025-594 du 30 juin 2025, art\. 13\)\. The campaign file does not state what its calls rest on, basis: consent, existing_customer, legitimate_interest or legal_duty; a start is refused without it\./,
  );
  expect(said).toMatch(/US: the law asks for consent to calls by machine or with an artificial voice \(4 rows; .*FCC 24-17\)/);
  expect(said).toMatch(/Cannot start: the law asks for consent, and the campaign file does not state its basis\./);
  expect(refusal).toMatch(
    /^1: basis: is missing, and the law asks for consent in FR \(2 rows; .*2025-594.*\); write what your calls rest on: consent, .*; or leave the rows out, or write law: \{ FR: none \} if that law does not hold for your calls$/,
  );
  expect(startable).toBe(false);
});

test.each([
  ['a basis', consented, / The campaign file states basis: consent\./],
  [
    'another basis',
    'basis: existing_customer\n',
    /states basis: existing_customer, which is not consent; whether it is enough is not judged\./,
  ],
  ['no law there', 'law: { FR: none }\n', /^(?!.*FR: the law)/s],
  ['an end before the law', 'ends_at: 2026-08-10T12:00:00Z\n', /^(?!.*FR: the law)/s, Date.UTC(2026, 6, 1)],
])('with %s it may start', async (_, more, expected, at = now) => {
  const { said, refusal, startable } = await checkOutlook(more, at);
  expect(said).toMatch(expected);
  expect({ refusal, startable }).toEqual({ refusal: '', startable: true });
});

test('a campaign without an end that begins before the law is asked as well', async () => {
  expect((await checkOutlook('', Date.UTC(2026, 6, 1))).refusal).toMatch(/^1: basis: is missing/);
});

test('another word than a basis is refused with those that there are', async () => {
  const { campaignPath } = await writeCampaign(`${yaml}basis: they_like_us\n`, list);
  expect(await messageOf(readCampaignFile(campaignPath))).toMatch(
    /:6: basis: "they_like_us" cannot be used; write consent, existing_customer, legitimate_interest or legal_duty$/,
  );
});

test('check says which rules are unconfirmed for how many rows', async () => {
  const { said, law } = await checkOutlook(consented);
  expect(said).toMatch(
    /3 rules by law were not confirmed at the source: us-la for 2 rows \(which legal holidays\); us-me for 1 row \(whether the text of 2003 still stands\); us-me-calls for 1 row \(.*\)\. The stricter of what is said about the law holds/,
  );
  expect(law).toMatchObject({
    basis: 'consent',
    consent: [
      { country: 'US', kind: 'artificial_voice', rows: 4 },
      { country: 'FR', kind: 'required', rows: 2 },
    ],
    unconfirmed: [{ id: 'us-la', rows: 2, what: 'which legal holidays' }, { id: 'us-me' }, { id: 'us-me-calls' }],
  });
  expect((await checkOutlook('law: off\n')).law).toEqual({ basis: null, consent: [], unconfirmed: [] });
});

test('a start freezes the basis and the holidays of countries without a rule, which verify knows, and the report says the same as check', async () => {
  const store = await openCleanStore('sqlite');
  const begin = async (more: string) => {
    const { campaignPath } = await writeCampaign(`${yaml}${more}`, list);
    const read = await readCampaign(await readCampaignFile(campaignPath), now);
    await importList({ store, read, accountId: 'http://service', now, allowPartial: false });
  };
  expect(await messageOf(begin(''))).toMatch(/:1: basis: is missing, and the law asks for consent in FR \(2 rows/);
  expect(await findCampaign(store.db, 'test')).toBeUndefined();
  await begin(consented);
  const campaign = (await findCampaign(store.db, 'test'))!;
  expect(campaign.rules.basis).toBe('consent');
  const brazil = campaign.rules.law.find(({ country }) => country === 'BR');
  expect(brazil).toMatchObject({ id: 'elsewhere-BR', holidays: 'made' });
  expect(brazil?.closedOn).toContain('2027-09-07');

  const imported = await store.db.selectFrom('events').select('data').where('type', '=', 'campaign.imported').executeTakeFirstOrThrow();
  const { rules } = JSON.parse(String(imported.data)) as { rules: object };
  const posted = (at: string) => ({
    seq: 1,
    campaignId: 'test',
    type: 'attempt.posted' as const,
    at: Date.parse(at),
    data: { zones: ['America/Sao_Paulo'], country: 'BR', regions: null },
  });
  expect(auditHours(readAuditedRules(rules), posted('2027-09-07T15:00:00Z'))).toMatch(/^when it must not be/);
  expect(auditHours(readAuditedRules(rules), posted('2027-09-08T15:00:00Z'))).toBeNull();

  const outlook = await readLawForecast(store.db, campaign);
  expect(outlook).toEqual((await checkOutlook(consented)).law);
  const report = renderHtmlReport(sampleReport({ campaigns: [sampleCampaign('test', { law: outlook })] }));
  expect(report).toContain('us-la for 2 rows (which legal holidays); us-me for 1 row');
  expect(report).toMatch(/FR: the law asks for consent to calls that sell anything \(2 rows; .*states basis: consent\./);
});

test('people whose law asks for a basis that was not stated do not come in later either', async () => {
  const store = await openCleanStore('sqlite');
  const withIds = minimalCampaign.replace('phone: phone }', 'phone: phone, id: id }');
  const { campaignPath, folder } = await writeCampaign(withIds, 'phone,id\n+12125550104,1\n');
  const read = await readCampaign(await readCampaignFile(campaignPath), now);
  await importList({ store, read, accountId: 'http://service', now, allowPartial: false });
  const apply = async (list: string) => {
    await writeFile(join(folder, 'later.csv'), list);
    const control = { config: readConfig({}), store, now: () => now };
    const update = await openUpdate(control, { campaignId: 'test', path: join(folder, 'later.csv') });
    const results: (string | null)[] = [];
    for await (const rows of applyUpdate(control, update, { dryRun: false, add: true, restore: false }))
      results.push(...rows.map(({ code, result }) => code ?? result));
    return results;
  };
  expect(await messageOf(apply('phone,id\n+12125550104,1\n+33199001234,2\n'))).toMatch(
    /^EditRefusedError: The list has people in FR, where the law asks for consent \(.*2025-594.*\), and the campaign file states no basis\./,
  );
  expect(await apply('phone,id\n+12125550104,1\n+12125550105,3\n')).toHaveLength(2);
});
