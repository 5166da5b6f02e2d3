import { readNumbers } from '../../../operations/control/suppress.ts';
import { operations } from '../../../operations/list.ts';
import { hasClosed } from '../../../rules/lifecycle.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { count, facts, figure } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { countCallsTo } from '../../../ledger/read/calls-to.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { findEntries } from '../../../ledger/rows/suppressions.ts';
import { actionForm, apiCall, type ApiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { callFacts } from '../core/call-facts.ts';
import { numberFields, readNumberFields, readScope, readTerms, scopeField, termFields } from '../core/fields.ts';
import type { ViewRequest } from '../core/view.ts';

const back = '/do-not-call';
const crumbs = [[back, 'Do not call']] as const;

/** The first press has the numbers read and counted, and changes nothing; the second one does it. */
function checkOr(fields: URLSearchParams, change: () => ApiCall): ApiCall {
  if (fields.get('step') === 'change') return change();
  return { ...apiCall('checkSuppressions'), body: readNumberFields(fields) };
}

/** Numbers that people have written, onto the list. */
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
      body: html`<section class="panel">
        <p>Nobody is called under them from then on, also where a call is planned already. What is on the list is never shortened.</p>
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
          body: html`${numberFields(given.fields, { settled })} ${scopeField(given.fields, await goingCampaigns(request))}
          ${termFields(given.fields)} ${step(settled)}`,
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

/** Numbers that may be called again. */
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
      body: html`<section class="panel">
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
          body: html`${numberFields(given.fields, { settled })} ${scopeField(given.fields, await goingCampaigns(request))} ${step(settled)}`,
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
