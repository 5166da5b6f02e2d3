import { facts, linkButton } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { rowPath } from '../core/links.ts';
import { personName, shownNumber } from '../core/rows.ts';
import { may, type ViewRequest } from '../core/view.ts';
import { actsOf, collectedOf, localTime, readPerson, storyOf, type Person } from './person.ts';
import { peoplePath, type PeopleQuery } from './asked.ts';
import { callsOf, nextCallOf, nextCallSentence, statusOf } from './standing.ts';

/** A person beside the table; null if none is requested or found. */
export async function drawer(request: ViewRequest, campaign: Campaign, query: PeopleQuery): Promise<Html | null> {
  if (query.person === null || query.search !== '') return null;
  const person = await findPerson(request, query.person);
  if (person === null) return null;
  const { row, own } = person;
  const { zones } = row.terms;
  const { campaignId, rules } = campaign;
  const values = own === undefined ? [] : collectedOf(own.calls.findLast((call) => collectedOf(call).length > 0) ?? { facts: null });
  return html`<aside class="panel drawer" aria-labelledby="who">
    <header>
      <h2 id="who">${personName(row.row, row.externalId)}</h2>
      <span class="actions">
        ${linkButton(rowPath(campaignId, row.row), 'Open', 'sm')}
        <a class="btn bare sm square" id="close-drawer" href="${peoplePath(campaign, query, { after: query.after })}" aria-label="Close" title="Close (Esc)">${icon('x')}</a>
      </span>
    </header>
    <div class="pad stack">
      <p>${statusOf(row, request.now)}</p>
      ${facts([
        ['Number', row.e164 === null ? 'None that can be called' : shownNumber(request, campaignId, row.e164)],
        ['Local time', zones.length === 0 ? null : localTime(zones, request.now)],
        ['Calls', callsOf(row.attempts, rules.retry.maxAttempts)],
        ['Next call', own === undefined ? nextCallOf(row, request.now) : nextCallSentence(own)],
      ])}
      ${values.length === 0 || !may(request, 'operate') ? null : html`<h3>Collected</h3>${facts(values)}`}
      <h3>What happened</h3>
      ${storyOf(request, person)}
    </div>
    ${
      actsOf(request, person).length === 0
        ? null
        : html`<footer class="actions">
            ${actsOf(request, person).map(([path, drawing, words]) => linkButton(path, words, 'sm', drawing))}
          </footer>`
    }
  </aside>`; // prettier-ignore
}

async function findPerson(request: ViewRequest, row: number): Promise<Person | null> {
  try {
    return await readPerson({ ...request, params: { ...request.params, row: String(row) } });
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}
