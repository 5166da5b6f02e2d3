import { bar, bone, facts, figure, instant, withInstants } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { verdictReason } from '../../../presentation/words/causes.ts';
import { endText } from '../../../presentation/words/forecast.ts';
import { capital, count, percent } from '../../../shared/input/figures.ts';
import { printableLines } from '../../../shared/input/printable.ts';
import { callingDays, type DraftForecast, type ForecastResult } from './outlook.ts';
import { findIssues } from './start-part.ts';

const mostZones = 4;

/** Forecast beside the parts. */
export function sumPanel(draftForecast: ForecastResult, problems: number): Html {
  return html`<aside class="panel sum" id="sum" aria-labelledby="title-sum" aria-live="polite">
    <header><h2 id="title-sum">What would happen</h2></header>
    ${bodyOf(draftForecast)} ${footOf(draftForecast, problems)}
  </aside>`;
}

function bodyOf(draftForecast: ForecastResult): HtmlValue {
  if (draftForecast.kind === 'refused') return html`<div class="pad stack"><p class="lines">${printableLines(draftForecast.why)}</p></div>`;
  if (draftForecast.kind === 'unread')
    return html`<div class="pad stack">
      <p>${bone('The list is being read')}</p>
      ${facts(['First call', 'Ends likely', 'At the latest', 'Calls'].map((name) => [name, bone('Still reading')] as const))}
      <noscript><p class="hint">The list is being read: load this page again.</p></noscript>
    </div>`;
  const { found } = draftForecast;
  const { rows, dialable, forecast } = found.report;
  const left = rows - dialable;
  return [
    html`<div class="pad stack">
      <p><span class="big num">${dialable.toLocaleString('en')}</span> <span class="soft">of ${count(rows)} can be called</span></p>
      ${bar(
        [
          ['reached', dialable],
          ['cannot', left],
        ],
        { says: `${count(dialable)} can be called, ${count(left)} cannot` },
      )}
      ${facts(factsOf(found))}
      ${
        forecast === null
          ? null
          : html`<p class="hint">
              Likely: ${percent(forecast.assumptions.answerRate)} answer and talk for ${forecast.assumptions.callMs / 1000} s.
            </p>`
      }
    </div>`,
    left === 0 ? null : html`<div class="pad"><h3>Cannot be called</h3>${facts(leftOut(found), 'small')}</div>`,
    dialable === 0 ? null : html`<div class="pad"><h3>Where they are</h3>${facts(placesOf(found), 'small')}</div>`,
  ]; // prettier-ignore
}

function factsOf(found: DraftForecast): [string, HtmlValue][] {
  const { report, rules } = found;
  const { forecast, start } = report;
  if (forecast === null) return [];
  const { likely, slowest, calls, minutes } = forecast;
  const begins =
    start.open === 0 ? instant(start.nextAt, 'minute') : rules.startsAt !== null ? instant(start.at, 'minute') : 'When you start';
  const end = (course: typeof likely) => withInstants(endText(course, rules.endsAt));
  const days =
    likely.finishesAt === null ? 0 : callingDays(found, start.open > 0 ? start.at : (start.nextAt ?? start.at), likely.finishesAt);
  return [
    ['First call', begins],
    ['Ends likely', html`<b>${end(likely)}</b>`],
    ['At the latest', end(slowest)],
    ['Calls', html`${figure(calls.likely)} likely, ${figure(calls.most)} at most`],
    ['A day', days === 0 ? null : html`about ${figure(Math.ceil(calls.likely / days))}, on ${count(days)} ${days === 1 ? 'day' : 'days'}`],
    ['Talk time', html`${figure(minutes.likely)} min likely`],
    ['At once', figure(forecast.lines)],
  ]; // prettier-ignore
}

function leftOut({ report }: DraftForecast): [string, HtmlValue][] {
  return [
    ...report.rejections.map(({ reason, count: of }) => [capital(reason.replaceAll('_', ' ')), figure(of)] as [string, HtmlValue]),
    ...report.exclusions.map(({ reason, count: of }) => [capital(verdictReason(reason)), figure(of)] as [string, HtmlValue]),
  ];
}

function placesOf({ zones }: DraftForecast): [string, HtmlValue][] {
  const rest = zones.slice(mostZones).reduce((sum, { people }) => sum + people, 0);
  const shown = zones.slice(0, mostZones).map(({ zones: names, people, hours }): [string, HtmlValue] => {
    const [first = 'Nowhere known'] = names;
    const name = (first.split('/').at(-1) ?? first).replaceAll('_', ' ');
    return [names.length > 1 ? `${name} + ${names.length - 1}` : name, html`${figure(people)}, ${hoursText(hours)}`];
  });
  return rest === 0 ? shown : [...shown, ['Elsewhere', figure(rest)]];
}

function hoursText(hours: DraftForecast['zones'][number]['hours']): HtmlValue {
  if (!hours.open) return hours.opensAt === null ? 'never open' : html`open ${instant(hours.opensAt, 'brief')}`;
  return hours.closesAt === null ? 'open at any hour' : html`open until ${instant(hours.closesAt, 'brief')}`;
}

function footOf(draftForecast: ForecastResult, problems: number): HtmlValue {
  const things =
    problems + (draftForecast.kind === 'found' ? findIssues(draftForecast.found).length : draftForecast.kind === 'refused' ? 1 : 0);
  const word = things === 0 ? 'Ready to start' : `${count(things)} ${things === 1 ? 'thing' : 'things'} to look at`;
  const tone = things === 0 ? 'good' : 'wait';
  return html`<footer class="is-${tone}">
    ${draftForecast.kind === 'unread' ? null : html`<span class="state is-${tone}">${icon(things === 0 ? 'check' : 'alert')} ${word}</span>`}
    <a class="btn" href="#part-name">Check and start</a>
  </footer>`;
}

export function sumText(draftForecast: ForecastResult): HtmlValue {
  if (draftForecast.kind !== 'found') return null;
  const { report, rules } = draftForecast.found;
  const { rows, dialable, forecast } = report;
  return html`<b>${count(dialable)} of ${count(rows)}</b>
    ${forecast === null ? null : html`<span class="soft">ends ${withInstants(endText(forecast.likely, rules.endsAt))}</span>`}`;
}
