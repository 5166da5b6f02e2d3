import { readNumbers } from '../../../operations/control/suppress.ts';
import { operations } from '../../../operations/list.ts';
import { hasClosed } from '../../../rules/lifecycle.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { count, facts, figure, empty } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { countCallsTo } from '../../../ledger/read/calls-to.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { findEntries } from '../../../ledger/rows/suppressions.ts';
import { actionForm, apiCall, type ApiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { callFacts, pressView } from '../core/press.ts';
import {
  numberFields,
  readNumberFields,
  readScope,
  readTerms,
  scopeField,
  termFields,
  regionField,
  lineField,
  written,
} from '../core/fields.ts';
import type { ViewRequest } from '../core/view.ts';
import { rowPath, rowsPath } from '../core/links.ts';
import { openCampaign, inCampaign, shownNumber, personName, requireRow } from '../core/rows.ts';

const back = '/do-not-call';
const crumbs = [[back, 'Do not call']] as const;

/** The first press has the numbers read and counted, and changes nothing; the second one does it. */
function checkOr(fields: URLSearchParams, change: () => ApiCall): ApiCall {
  if (fields.get('step') === 'change') return change();
  return { ...apiCall('checkSuppressions'), body: readNumberFields(fields) };
}

export const addNumbers: ConsoleAction = {
  path: '/do-not-call/add',
  role: operations.addSuppressions.role,
  form: async (request, given) => {
    const settled = isSettled(given);
    const numbers = settled ? numbersOf(given) : [];
    const { db } = request.context.store;
    const known = numbers.length === 0 ? 0 : await countKnown(request, numbers);
    return {
      title: settled ? `Put ${count(numbers.length, 'number')} on the do-not-call list?` : 'Add numbers',
      section: 'do-not-call',
      crumbs,
      body: html`<section class="panel pad-all stack narrow">
        <p>These numbers are not called from then on, even if a call is already planned. What is on the list is never shortened.</p>
        ${
          settled
            ? facts([
                ['Numbers', figure(numbers.length)],
                ['On the list already', figure(known)],
                ...callFacts(await countCallsTo(db, numbers)),
              ])
            : null
        }
        ${actionForm(given, {
          button: settled ? `Do not call ${count(numbers.length, 'number')}` : 'Say what this does',
          back,
          body: html`${numberFields(given.fields, { settled })}
            <div class="fields">
              ${regionField(given.fields)} ${scopeField(given.fields, await goingCampaigns(request))} ${termFields(given.fields)}
            </div>
            ${step(settled)}`,
        })}
      </section>`,
    };
  },
  call: ({ fields }, { now }) =>
    checkOr(fields, () => ({
      ...apiCall('addSuppressions'),
      body: { ...readNumberFields(fields), ...readScope(fields), ...readTerms(fields, now) },
    })),
  done: ({ fields }, { body }) =>
    fields.get('step') === 'change'
      ? {
          to: back,
          said: `${count(Number(body['added']), 'number')} added; ${count(Number(body['known']), 'number')} stood there already.`,
        }
      : null,
};

export const removeNumbers: ConsoleAction = {
  path: '/do-not-call/remove',
  role: operations.removeSuppressions.role,
  form: async (request, given) => {
    const settled = isSettled(given);
    const numbers = settled ? numbersOf(given) : [];
    const known = numbers.length === 0 ? 0 : await countKnown(request, numbers);
    return {
      title: settled ? `Allow calls to ${count(known, 'number')} again?` : 'Allow calls again',
      section: 'do-not-call',
      crumbs,
      body: html`<section class="panel pad-all stack narrow">
        <p>Somebody may have asked not to be called. Campaigns that go on may call these numbers at once.</p>
        ${
          settled
            ? facts([
                ['Numbers', figure(numbers.length)],
                ['On the list', figure(known)],
                ['Rows that wait, in all campaigns', figure((await countCallsTo(request.context.store.db, numbers)).waiting)],
              ])
            : null
        }
        ${actionForm(given, {
          button: settled ? `Allow calls to ${count(numbers.length, 'number')}` : 'Say what this does',
          ...(settled ? { tone: 'danger' } : {}),
          back,
          body: html`${numberFields(given.fields, { settled })}
            <div class="fields">${regionField(given.fields)} ${scopeField(given.fields, await goingCampaigns(request))}</div>
            ${step(settled)}`,
        })}
      </section>`,
    };
  },
  call: ({ fields }) =>
    checkOr(fields, () => ({
      ...apiCall('removeSuppressions'),
      body: { ...readNumberFields(fields), ...readScope(fields) },
    })),
  done: ({ fields }, { body }) =>
    fields.get('step') === 'change'
      ? {
          to: back,
          said: `${count(Number(body['removed']), 'number')} taken off the list; ${count(Number(body['unknown']), 'number')} did not stand there.`,
        }
      : null,
};

function isSettled({ answer, fields }: Given): boolean {
  return answer !== null || fields?.get('step') === 'change';
}

function step(settled: boolean): Html {
  return html`<input type="hidden" name="step" value="${settled ? 'change' : 'check'}" />`;
}

/** Those of the form, each once; none where one of them is no number. */
function numbersOf({ fields }: Given): string[] {
  const { numbers, region } = readNumberFields(fields ?? new URLSearchParams());
  try {
    return readNumbers(numbers, region);
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** How many of them have an entry of the scope that the form names. */
async function countKnown({ context, now }: ViewRequest, numbers: readonly string[]): Promise<number> {
  const entries = await findEntries(context.store.db, numbers);
  return new Set(entries.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ e164 }) => e164)).size;
}

async function goingCampaigns({ context }: ViewRequest): Promise<string[]> {
  const campaigns = await listCampaigns(context.store.db);
  return campaigns.filter((campaign) => !hasClosed(campaign)).map(({ campaignId }) => campaignId);
}

/** Puts the number of a row on the do-not-call list, without anybody having to see or write it. */
export const suppressRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/suppress',
  role: operations.addSuppressions.role,
  form: async (request, given) => {
    const { context } = request;
    const { campaign, campaignId } = await openCampaign(request);
    const { row, externalId, e164 } = await requireRow(request, campaignId);
    const name = personName(row, externalId);
    const back = rowPath(campaignId, row);
    return pressView(given, {
      title: 'Do not call this number?',
      ...inCampaign(campaign, [rowsPath(campaignId), 'People'], [back, name]),
      back: [back, name],
      obstacle: e164 === null ? { why: 'This person has no number that could be called.', status: 200 } : null,
      says:
        'This number is not called from now on. Calls that are planned and not sent yet are stopped; open calls go on. ' +
        'Taking a number off the list again takes the role admin.',
      standing:
        e164 === null
          ? []
          : [['Number', shownNumber(request, campaignId, e164)], ...callFacts(await countCallsTo(context.store.db, [e164]))],
      button: 'Do not call this number',
      danger: true,
      body: html`${scopeChoice(given, campaignId)} ${termFields(given.fields)}`,
    });
  },
  call: async ({ fields }, request) => {
    const { now } = request;
    const { campaignId } = await openCampaign(request);
    const { e164 } = await requireRow(request, campaignId);
    return {
      ...apiCall('addSuppressions'),
      body: {
        numbers: e164 === null ? [] : [e164],
        ...(fields.get('scope') === 'campaign' ? { campaign: campaignId } : {}),
        ...readTerms(fields, now),
      },
    };
  },
  done: ({ params }, { body }) => ({
    to: rowPath(params['campaign'] ?? '', Number(params['row'])),
    said:
      body['added'] === 1
        ? 'The number is on the do-not-call list.'
        : 'The number was on the do-not-call list already, for at least as long.',
  }),
};

function scopeChoice({ fields }: Given, campaignId: string): Html {
  const onlyHere = fields?.get('scope') === 'campaign';
  return html`<fieldset>
    <legend>For</legend>
    <label><input type="radio" name="scope" value="all" ${onlyHere ? null : html`checked`} /> all campaigns</label>
    <label><input type="radio" name="scope" value="campaign" ${onlyHere ? html`checked` : null} /> only ${campaignId}</label>
  </fieldset>`;
}

export const importNumbers: ConsoleAction = {
  path: '/do-not-call/import',
  role: operations.importSuppressions.role,
  files: ['numbers'],
  form: async (_request, given) => ({
    title: given.answer === null ? 'Import numbers that must not be called' : 'The file was imported',
    section: 'do-not-call',
    crumbs: [[back, 'Do not call']],
    body:
      given.answer === null
        ? html`<section class="panel pad-all stack narrow">
            <p>
              All numbers of the file go on the list, or none where it cannot be read. Lines that are no number are left out and counted.
              Calls that are planned to them are stopped; open calls go on.
            </p>
            ${actionForm(given, {
              button: 'Import the file',
              back,
              files: true,
              body: html`<label class="field"
                  >CSV or a workbook, with or without a header <input name="numbers" type="file" accept=".csv,.txt,.xlsx,text/csv" required
                /></label>
                ${lineField(given.fields, { name: 'column', label: 'Column of the numbers; empty: the only one there is', most: 200 })}
                ${regionField(given.fields)} ${termFields(given.fields, { reason: false })}`,
            })}
          </section>`
        : imported(given.answer),
  }),
  call: ({ fields, files }, { now }) => {
    const form = new FormData();
    if (files['numbers'] !== undefined) form.append('numbers', files['numbers'], 'numbers');
    const { expiresAt } = readTerms(fields, now);
    const query = { ...written(fields, 'region', 'column'), ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
    return { ...apiCall('importSuppressions', {}, query), body: form };
  },
  done: () => null,
};

function imported(answer: Record<string, unknown>) {
  const { rows, added, known, repeated, bad, badLines } = answer as Record<'rows' | 'added' | 'known' | 'repeated' | 'bad', number> & {
    badLines: number[];
  };
  return html`<section class="panel pad-all stack narrow">
    ${facts([
      ['Rows of the file', figure(rows)],
      ['Numbers added', figure(added)],
      ['Stood there already', figure(known)],
      ['Repeated in the file', figure(repeated)],
      ['No number', figure(bad)],
    ])}
    ${
      bad === 0
        ? empty('Every line was a number', html`<a href="${back}">Do not call</a>`)
        : empty(
            `${count(bad, 'line')} protect${bad === 1 ? 's' : ''} nobody`,
            html`Lines ${badLines.join(', ')}${bad > badLines.length ? ' and more' : ''} of the file are no number. Correct them and
              <a href="/do-not-call/import">import the file again</a>: what stands on the list stays.`,
          )
    }
  </section>`;
}
