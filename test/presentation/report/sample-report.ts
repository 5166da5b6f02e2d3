import type { CampaignReport } from '../../../src/ledger/read/campaign-report.ts';
import type { People, ReportData } from '../../../src/presentation/report/report-data.ts';
import { callLine, sample } from '../charts/sample-data.ts';

const noon = Date.UTC(2030, 0, 15, 12);

const slower = { from: { batchSize: 20 }, to: { batchSize: 5 }, by: 'person' } as const;

export function sampleCampaign(campaignId: string, more: Partial<CampaignReport> = {}): CampaignReport {
  return {
    campaignId,
    name: null,
    state: 'paused',
    stateReason: 'paused by a person',
    createdAt: noon - 3_600_000,
    firstCallAt: noon,
    lastCallAt: noon + 18_000_000,
    rows: { total: 120, ended: 91 },
    callbacks: null,
    calls: { calls: 103, open: 5, answered: 40, answerRate: 0.4082, talkSeconds: 2_400 },
    outcome: [
      { value: 'completed', count: 60, share: 0.5 },
      { value: 'exhausted', count: 31, share: 0.2583 },
      { value: 'in_progress', count: 29, share: 0.2417 },
    ],
    disposition: sample.dispositions,
    attempt: sample.attempts,
    hour: [callLine(9, 60, 30)],
    week: sample.week,
    day: [callLine('2030-01-15', 60, 30), callLine('2030-01-16', 43, 10, 8)],
    zone: [callLine('America/New_York', 103, 40, 5)],
    caller: sample.callers,
    collected: { confirmed: sample.collected },
    evaluation: { polite: [{ value: 'success', count: 60, share: 1 }] },
    funnel: sample.funnel,
    course: sample.course,
    law: {
      basis: 'existing_customer',
      consent: [{ country: 'US', kind: 'artificial_voice', rows: 120, source: '47 CFR 64.1200' }],
      unconfirmed: [{ id: 'us-la', what: 'which legal holidays', rows: 12, source: 'R.S. 1:55' }],
    },
    changes: [
      { seq: 7, at: noon, campaignId: 'spring', type: 'campaign.adjusted', data: slower },
      { seq: 9, at: noon + 60_000, campaignId: 'spring', type: 'pilot.voided', data: { sample: 1 } },
    ],
    cost: null,
    ...more,
  };
}

export function sampleReport(more: Partial<ReportData> = {}): ReportData {
  return {
    madeAt: noon + 86_400_000,
    campaigns: [sampleCampaign('spring')],
    proof: {
      judgedAt: noon + 86_400_000,
      ok: false,
      events: 1_200,
      calls: 103,
      checks: 33,
      found: 1,
      violations: [{ campaignId: 'spring', promise: 'nobody is called twice', at: noon, what: 'call spring/1/1 was repeated' }],
      notes: ["The service's own list of conversations was not read: no service was named."],
    },
    people: null,
    ...more,
  };
}

const noTimes = { notBefore: null, expiresAt: null, consentedAt: null };

export function samplePeople(campaignId: string, count: number): People {
  const rows = Array.from({ length: count }, (_, n) => ({
    row: n + 1,
    externalId: `guest-${n}`,
    e164: `+1${200 + (n % 700)}55501${String(n % 100).padStart(2, '0')}`,
    state: 'done' as const,
    outcome: 'completed' as const,
    reason: null,
    result: null,
    attempts: 1,
    disposition: 'answered',
    lastDialedAt: noon,
    dueAt: null,
    changedAt: noon,
    terms: { zones: ['America/New_York'], country: 'US', regions: ['NY'], priority: null, hours: null, personKey: null, ...noTimes },
  }));
  return { campaignId, rows, more: 7 };
}
