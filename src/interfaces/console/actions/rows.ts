import { figure } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { plural } from '../../../shared/input/figures.ts';
import { countRetriable, refuseUnlessRetriable, RetryRefusedError } from '../../../ledger/people/retry-ended.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { findUnresolved, readDoubtfulRows } from '../../../ledger/doubt/doubtful-rows.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { countUndecided, countUnresolved } from '../../../ledger/read/doubt-counts.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { outcomeOf, retriableOutcomes } from '../../../rules/outcome.ts';
import type { ConsoleAction } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { openCampaign, inCampaign, personName, shownNumber, requireRow } from '../core/rows.ts';
import { hidden, checkboxes } from '../core/fields.ts';

const done: Readonly<Record<string, string>> = {
  theirs: 'this record is their call, and they have its result',
  not_theirs: 'this record is not their call',
  redial: 'they are called again',
  give_up: 'they are left open, and not called again',
};

const people = (number: number): string => plural(number, 'person', 'people');

function backTo(from: string | null, campaignId: string): string {
  return from === 'all' ? '/decisions' : campaignPath(campaignId, '/unresolved');
}

/** A record is assigned with one click; redialling and giving up show their effect first. */
const resolveRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/resolve',
  op: 'resolveRow',
  form: async (request, { fields }) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const { row, externalId } = await requireRow(request, campaignId);
    const name = personName(row, externalId);
    const recipients = await findUnresolved(db, campaignId, { rows: [row] });
    const [doubtful] = await readDoubtfulRows(db, campaign, { recipients, now: request.now });
    const [decision, from] = ['decision', 'from'].map((each) => fields?.get(each) ?? request.query(each)) as [string, string];
    const back = backTo(from, campaignId);
    const isRedial = decision === 'redial';
    const isChoice = isRedial || decision === 'give_up';
    const what = isRedial ? `Call ${name} again` : `Leave ${name} open`;
    const needsNone = `${name} needs no decision, or was left open.`;
    return {
      title: isChoice ? `${what}?` : name,
      ...inCampaign(campaign, [back, 'Needs a decision'], [rowPath(campaignId, row), name]),
      back: [back, 'the people who need a decision'],
      obstacle: doubtful === undefined ? needsNone : isChoice ? null : 'Choose a record, or what to do.',
      says: isRedial
        ? 'This person goes back in line and is called. If one of their calls was placed after all, this person is called twice.'
        : 'It stays unknown what became of this person, and no decision is asked for any more. They are not called again.',
      standing:
        doubtful === undefined
          ? []
          : [
              ['Number', shownNumber(request, campaignId, doubtful.recipient.e164)],
              ['Calls that may have been placed', figure(doubtful.calls.length)],
              ['Records that may be their call', figure(doubtful.calls.flatMap((call) => call.records).length)],
            ],
      button: what,
      danger: true,
      body: hidden({ decision, from }),
    };
  },
  call: ({ fields }) => {
    const conversationId = fields.get('conversation') ?? '';
    return { body: { decision: fields.get('decision'), ...(conversationId === '' ? {} : { conversationId }) } };
  },
  done: ({ campaignId, row, fields }, { setOff }) => ({
    to: backTo(fields.get('from'), campaignId),
    said: `Row ${row}: ${done[fields.get('decision') ?? '']}${typeof setOff === 'string' ? ` (${setOff})` : ''}.`,
  }),
};

const resolveAllRows: ConsoleAction = {
  path: '/campaigns/:campaign/resolve',
  op: 'resolveAll',
  form: async (request, { fields }) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const causes = await countUnresolved(db, campaignId);
    const all = countUndecided(causes);
    const apart = causes[notToldApart] ?? 0;
    const redial = (fields?.get('decision') ?? request.query('decision')) === 'redial';
    const rows = redial ? all - apart : all;
    const { open } = await readStatus(db, campaign);
    const back = campaignPath(campaignId, '/unresolved');
    const what = redial ? `Call ${people(rows)} again` : `Leave ${people(rows)} open`;
    const alsoOpen = {
      value: 'yes',
      label: `also ${plural(open, 'open call')}, if the service has not let its records be read for an hour`,
    };
    return {
      title: `${what}?`,
      ...inCampaign(campaign, [back, 'Needs a decision']),
      back: [back, 'the people who need a decision'],
      obstacle: rows + open === 0 || (redial && rows === 0) ? 'Nobody can be decided about together.' : null,
      says: redial
        ? `${people(rows)} ${rows === 1 ? 'goes' : 'go'} back in line. If their calls were placed after all, up to ${people(rows)} ${rows === 1 ? 'is' : 'are'} called twice; no record can rule this out.`
        : `It stays unknown what became of ${people(rows)}. No decision is asked for any more, and they are not called again.`,
      standing: [
        [redial ? 'People who are called again' : 'People who are left open', figure(rows)],
        ['People who are left to a decision of their own', redial ? figure(apart) : null],
        ['Open calls', figure(open)],
      ],
      button: what,
      danger: true,
      body: [hidden({ decision: redial ? 'redial' : 'give_up' }), redial || open === 0 ? null : checkboxes(fields, 'open', [alsoOpen])],
    };
  },
  call: ({ fields }) => ({ body: { decision: fields.get('decision'), ...(fields.get('open') === 'yes' ? { open: true } : {}) } }),
  done: ({ campaignId, fields }, answer) => {
    const { recipients, apart, tooEarly, openGivenUp } = answer as Record<'recipients' | 'apart' | 'tooEarly' | 'openGivenUp', number>;
    const redial = fields.get('decision') === 'redial';
    const parts = [
      `${people(recipients)} ${redial ? 'called again' : 'left open'}`,
      ...(openGivenUp > 0 ? [`${plural(openGivenUp, 'open call')} given up`] : []),
      ...(redial && apart > 0 ? [`${people(apart)} left: their records cannot be told apart`] : []),
      ...(tooEarly > 0 ? [`${plural(tooEarly, 'batch', 'batches')} too young to decide about`] : []),
      ...(typeof answer['setOff'] === 'string' ? [answer['setOff']] : []),
    ];
    return { to: campaignPath(campaignId, '/unresolved'), said: `${parts.join('; ')}.` };
  },
};

const retryRows: ConsoleAction = {
  path: '/campaigns/:campaign/retry',
  op: 'retryRows',
  form: async (request, { fields }) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const rows = await countRetriable(db, campaignId);
    const offered = retriableOutcomes.filter((outcome) => (rows[outcome] ?? 0) > 0);
    const choices = offered.map((outcome) => ({
      value: outcome,
      label: html`${outcomeOf[outcome].word}, ${plural(rows[outcome] ?? 0, 'row')}: <span class="soft">${outcomeOf[outcome].retry}</span>`,
    }));
    return {
      title: 'Call rows again?',
      ...inCampaign(campaign),
      back: [campaignPath(campaignId), campaignId],
      obstacle: refusalOf(campaign) ?? (offered.length === 0 ? 'No row can be called again.' : null),
      says:
        'The next round begins with the rows that you choose, under the rules with which the campaign was started. Each has a new ' +
        'budget of attempts and keeps its history; frequency caps still count every call.',
      standing: [
        ['Rounds so far', figure(campaign.round)],
        ['Rows that can be called again', figure(offered.reduce((sum, each) => sum + (rows[each] ?? 0), 0))],
      ],
      button: 'Start the next round',
      body: html`<fieldset>
        <legend>Rows to call again</legend>
        ${checkboxes(fields, 'outcome', choices)}
      </fieldset>`,
    };
  },
  call: ({ fields }) => ({ body: { outcomes: fields.getAll('outcome') } }),
  done: ({ campaignId }, answer) => {
    const { rows, round } = answer as { rows: number; round: number | null };
    const begun = round === null ? 'No round was started: nobody is in line.' : `Round ${round} was started.`;
    return { to: campaignPath(campaignId), said: `${plural(rows, 'row')} put back in line. ${begun}` };
  },
};

function refusalOf(campaign: Campaign): string | null {
  try {
    refuseUnlessRetriable(campaign);
    return null;
  } catch (error) {
    if (error instanceof RetryRefusedError) return error.message;
    throw error;
  }
}

export const rowActions = [resolveRow, resolveAllRows, retryRows];
