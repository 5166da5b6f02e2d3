import { html, type Html, type HtmlValue } from '../html/html.ts';
import { clockSpan, count, percent, percentCell, plural } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import { stateWord } from '../words/campaign.ts';
import { lawSentences } from '../words/law.ts';
import type { CallLine } from '../../ledger/read/report.ts';
import { moneyText } from '../../rules/price.ts';
import type { Outcome } from '../../rules/outcome.ts';
import { figureTable } from '../charts/chart.ts';
import { bar, figures, type OutcomeTone } from '../html/elements.ts';
import { outcomeParts } from '../html/outcomes.ts';
import type { People, Proof, ReportData, ReportedCampaign } from './report-data.ts';

/** What a reader needs who reads no further: one printed page. */
export function summarySection({ campaigns, proof }: Pick<ReportData, 'proof'> & { campaigns: readonly ReportedCampaign[] }): Html {
  const alone = campaigns.length === 1;
  return html`<section class="summary">
    <h2>Summary</h2>
    ${proof === null ? null : verdict(proof)}
    ${campaigns.map((campaign) => [alone ? null : html`<h3>${nameOf(campaign)}</h3>`, summaryOf(campaign)])}
    ${alone ? null : overviewTable(campaigns)}
    <div class="side">${campaigns.map((campaign) => spanOf(campaign, alone))}</div>
  </section>`;
}

function nameOf({ campaignId, name }: ReportedCampaign): string {
  return name === null ? campaignId : `${printable(name)} (${campaignId})`;
}

function verdict({ ok, checks, found }: Proof): Html {
  return ok
    ? html`<p class="verdict is-good">${plural(checks, 'promise')} checked, and every one was kept.</p>`
    : html`<p class="verdict is-bad">${plural(found, 'broken promise')}: see Proof.</p>`;
}

/** Text, bar and figures. Rows that cannot be called do not count as progress. */
function summaryOf(campaign: ReportedCampaign): Html {
  const { rows, calls, cost, goal, callbacks, funnel, outcome = [], attempt = [] } = campaign;
  const perGoal = cost?.perGoal == null ? '' : `, ${moneyText(cost.perGoal * 1_000_000, cost.currency)} each`;
  const counts = Object.fromEntries(outcome.map((line) => [line.value, line.count])) as Partial<Record<Outcome, number>>;
  const open = calls?.open ?? 0;
  const people = outcomeParts(counts, { calling: open, waiting: Math.max(0, rows.total - rows.ended - open) });
  const whole = rows.total - people.cannot;
  const of = (name: Outcome): number => counts[name] ?? 0;
  const share = (some: number): string => (whole === 0 ? '' : ` (${percent(some / whole)})`);
  const talk = calls?.talkSeconds == null ? 'talk time unknown' : `${clockSpan(calls.talkSeconds)} of talk`;
  const description = `${count(people.done)} of ${plural(whole, 'person', 'people')} done, ${count(people.cannot)} cannot be called`;
  return html`<p class="lead">
      <b>${count(of('completed'))} of ${plural(whole, 'person', 'people')} who can be called ${of('completed') === 1 ? 'was' : 'were'} reached${share(of('completed'))}.</b>
      ${plural(funnel.called, 'person was', 'people were')} called, with ${plural(calls?.calls ?? 0, 'call')}. ${steps(attempt)} ${left(counts, people.parts)}
    </p>
    ${bar(people.parts, { says: description, big: true })}
    <ul class="legend">
      ${people.parts
        .filter(([, size]) => size > 0)
        .map(([tone, size]) => html`<li><i class="dot ${tone}"></i> ${toneWords[tone]} <b>${count(size)}</b></li>`)}
    </ul>
    ${figures([
      shown('Reached', count(of('completed')), `of ${count(whole)} who can be called`),
      shown('Answer rate', calls?.answerRate == null ? '–' : percent(calls.answerRate), 'of the calls that have ended'),
      shown('Calls', count(calls?.calls ?? 0), talk),
      ...(goal == null ? [] : [shown('Goal', goal.people.share === null ? '–' : percent(goal.people.share), `reached with ${count(goal.people.count)} of ${plural(goal.people.of, 'person', 'people')} called${perGoal}`)]),
      ...(callbacks === null ? [] : [shown('Called back', count(callbacks.ended.kept + callbacks.ended.late), `${count(callbacks.ended.kept)} in time, ${count(callbacks.ended.missed)} missed, ${count(callbacks.open)} to come, ${count(callbacks.unclear)} unclear`)]),
      ...(cost === null ? [] : [shown('Cost', moneyText(cost.amount * 1_000_000, cost.currency), `${moneyText(cost.perMinute * 1_000_000, cost.currency, 6)} a minute on the line`)]),
      shown('Opted out', count(of('opted_out')), 'will not be called again'),
      shown('Need a decision', count(of('unresolved')), of('unresolved') === 0 ? 'nobody' : 'nobody knows whether they were called'),
      shown('Cannot be called', count(people.cannot), `of ${plural(rows.total, 'row')}`),
    ])}`;
} // prettier-ignore

const toneWords: Readonly<Record<OutcomeTone, string>> = {
  reached: 'Reached',
  unreached: 'Not reached',
  optout: 'Opted out',
  decide: 'Needs a decision',
  stopped: 'Cancelled or out of time',
  calling: 'Calling',
  waiting: 'Waiting',
  cannot: 'Cannot be called',
};

/** Answers gained by each further call to a recipient. */
function steps(attempts: readonly CallLine[]): string {
  const answered = attempts.filter((line) => line.answered > 0).map(({ value, answered: people }) => [Number(value), people] as const);
  if (answered.length < 2) return '';
  const [first, second, ...later] = answered.toSorted(([a], [b]) => a - b).map(([, people]) => people);
  const more = later.reduce((sum, people) => sum + people, 0);
  return `The first call was answered by ${count(first ?? 0)}, the second by ${count(second ?? 0)}${more === 0 ? '' : `, later ones by ${count(more)}`}.`;
}

function left({ unresolved = 0 }: Partial<Record<Outcome, number>>, parts: readonly (readonly [OutcomeTone, number])[]): string {
  const waiting = parts.find(([tone]) => tone === 'waiting')?.[1] ?? 0;
  return [
    ...(waiting === 0 ? [] : [`${plural(waiting, 'person still waits', 'people still wait')}.`]),
    ...(unresolved === 0 ? [] : [`${plural(unresolved, 'person needs', 'people need')} a decision.`]),
  ].join(' ');
}

const shown = (name: string, value: string, of: string) => ({ name, value, of });

function overviewTable(campaigns: readonly ReportedCampaign[]): Html {
  const columns = ['State', 'Rows', 'With an outcome', 'Completed', 'Calls', 'Answered', 'Answer rate', 'On the line'];
  const lines = campaigns.map(({ campaignId, name, state, rows, funnel, calls }) => ({
    cells: [
      name === null ? campaignId : `${campaignId} (${printable(name)})`,
      stateWord(state),
      count(rows.total),
      count(rows.ended),
      count(funnel.completed),
      count(calls?.calls ?? 0),
      count(calls?.answered ?? 0),
      calls?.answerRate == null ? '' : percentCell(calls.answerRate),
      calls?.talkSeconds == null ? '' : clockSpan(calls.talkSeconds),
    ],
  }));
  return figureTable('Overview', { columns: ['Campaign', ...columns], rows: lines });
}

function spanOf(campaign: ReportedCampaign, alone: boolean): Html {
  const { campaignId, state, stateReason, createdAt, firstCallAt, lastCallAt } = campaign;
  const left = Object.entries(campaign.leftOut ?? {});
  return html`<div class="of">
    ${alone ? null : html`<h3>${campaignId}</h3>`}
    <dl>
      ${fact('State', `${stateWord(state)}${stateReason === null ? '' : `: ${printable(stateReason)}`}`)}
      ${fact('Imported', instant(createdAt))} ${fact('First call', instant(firstCallAt))} ${fact('Last end of a call', instant(lastCallAt))}
      ${left.length === 0 ? null : fact('Left out for size', left.map(([name, lines]) => `${printable(name)}: ${count(lines)}`).join('; '))}
    </dl>
  </div>`;
}

function fact(name: string, value: HtmlValue): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

export function lawSection(campaigns: readonly ReportedCampaign[]): Html | null {
  const lawTexts = campaigns.map(({ campaignId, law }) => ({ campaignId, sentences: lawSentences(law) }));
  if (lawTexts.every(({ sentences }) => sentences.length === 0)) return null;
  return html`<section>
    <h2>Law</h2>
    ${lawTexts.map(
      ({ campaignId, sentences }) =>
        html`${campaigns.length === 1 ? null : html`<h3>${campaignId}</h3>`}
          <ul>
            ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
          </ul>`,
    )}
  </section>`;
}

export function proofSection(proof: Proof | null): Html {
  if (proof === null)
    return html`<section>
      <h2>Proof</h2>
      <p>The log was not judged for this report.</p>
    </section>`;
  const { judgedAt, ok, events, calls, checks, found, violations, notes } = proof;
  return html`<section>
    <h2>Proof</h2>
    <p>
      ${
        ok
          ? `Every promise was kept: ${plural(checks, 'promise')} checked.`
          : `${plural(found, 'violation')} found; ${plural(checks, 'promise')} checked.`
      }
      <code>carillon verify</code> judged ${plural(events, 'line')} of the log with ${plural(calls, 'call')} on ${instant(judgedAt)}.
    </p>
    ${
      violations.length === 0
        ? null
        : figureTable(
            'Violations',
            {
              columns: ['Campaign', 'Promise', 'What happened', 'When'],
              rows: violations.map(({ campaignId, promise, what, at }) => ({ cells: [campaignId, promise, what, instant(at)] })),
            },
            'words',
          )
    }
    ${found > violations.length ? html`<p>carillon verify shows all of them.</p>` : null}
    ${
      notes.length === 0
        ? null
        : html`<ul>
            ${notes.map((note) => html`<li>${note}</li>`)}
          </ul>`
    }
  </section>`;
}

export function peopleSection(people: ReportData['people']): Html | null {
  if (people === null) return null;
  const columns = ['Row', 'Number', 'Id', 'Outcome', 'Reason', 'Calls', 'Last call ended', 'Last dialled'];
  return html`<section>
    <h2>People</h2>
    ${people.map((own) => [people.length === 1 ? null : html`<h3>${own.campaignId}</h3>`, peopleTable(own, columns)])}
  </section>`;
}

function peopleTable({ campaignId, rows, more }: People, columns: readonly string[]): HtmlValue {
  const lines = rows.map((row) => ({
    cells: [
      count(row.row),
      row.e164 ?? '',
      row.externalId ?? '',
      row.outcome ?? row.state,
      row.reason ?? '',
      count(row.attempts),
      row.disposition ?? '',
      instant(row.lastDialedAt),
    ],
  }));
  const rest = more === 0 ? null : html`<p>And ${plural(more, 'row')} more: carillon results ${campaignId} has all.</p>`;
  return [figureTable(`People of ${campaignId}`, { columns, rows: lines }, 'words'), rest];
}

export function countingSection(): Html {
  return html`<section>
    <h2>How it is counted</h2>
    <ul>
      <li>
        Calls are those that were placed, or may have been. Answered calls include those in which somebody asked not to be called again.
      </li>
      <li>The answer rate is the share of the calls that have ended. Open calls are not in it.</li>
      <li>Hours, days and weekdays are the recipient’s own; who may be in several time zones counts in the likeliest.</li>
      <li>Time on the line is the sum of the durations in the service’s records.</li>
      <li>The figures stand in this file as JSON, in the element with the id <code>data</code>.</li>
    </ul>
  </section>`;
}

function instant(at: number | null): HtmlValue {
  if (at === null) return '–';
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
