import { count } from '../../../shared/input/figures.ts';
import { randomUUID } from 'node:crypto';
import { draftName, draftPath } from '../core/drafts.ts';
import { badge, instant, menu, menuLink, note } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { callsPart, hoursText } from './calls-part.ts';
import { partForm, textField, type FormState } from './form-fields.ts';
import { listPart } from './list-part.ts';
import { forecastDraft, type ForecastResult } from './outlook.ts';
import { fieldOf, formParts, labelOf, type FormPart } from './parts.ts';
import { evaluateDraft, partOf } from './reading.ts';
import type { Rehearsals } from './rehearsals.ts';
import { readyList, startActions } from './start-part.ts';
import { sumPanel, sumText } from './sum-panel.ts';
import { wordsPart } from './words-part.ts';
import type { FieldProblem, OpenDraft } from './draft-types.ts';

const againMs = 2_000;
const titles: Readonly<Record<FormPart, string>> = {
  columns: 'List',
  words: 'Words',
  calls: 'When and how often',
  name: 'Check, rehearse, start',
};

export interface DraftPageState {
  rehearsals: Rehearsals;
  /** Part, or all, that the user wants to complete: missing values are shown too. */
  asked?: FormPart | 'all' | null;
  /** In the API's words. */
  refused?: string | null;
  refusedList?: FormState;
  /** Submitted from an outdated version: its fields stay visible, with the stored differences. */
  stale?: { fields: OpenDraft['fields']; changed: NonNullable<FormState['changed']> };
  status?: number;
}

/** Four parts, each saved by itself, and the forecast. */
export async function draftView(request: ViewRequest, open: OpenDraft, shown: DraftPageState): Promise<View> {
  const { draft, fields } = open;
  const { rehearsals, asked = null, refused = null, refusedList, stale, status = 200 } = shown;
  const evaluated = await evaluateDraft(request, open);
  const all = evaluated.problems;
  const problems = all.filter((problem) => isTold(problem, fields, asked));
  const draftForecast = await forecastDraft(request, evaluated);
  const form: FormState = {
    fields: stale?.fields ?? fields,
    problems,
    first: status === 422 ? firstOf(open, problems) : undefined,
    changed: stale?.changed,
  };
  const state = { form, outlooked: draftForecast, lacking: new Set(all.map(({ field: at }) => partOf(at))) };
  const section = (part: FormPart, detail: HtmlValue, body: HtmlValue) => partSection(part, state, detail, body);
  const path = draftPath(draft.draftId);
  const rehearsal = rehearsals.isOffered ? await rehearsals.of({ draftId: draft.draftId }) : null;
  return {
    title: printable(draftName(fields, draft.list.name)),
    status,
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign']], // prettier-ignore
    badge: badge('quiet', 'Draft', 'pencil'),
    actions: draftMenu(path),
    meta: html`<span>${icon('check')} Saved ${instant(draft.touchedReal, 'clock')}</span>
      <span>Nobody is called until you press Start.</span>`,
    body: [
      html`<div class="make" id="make" data-draft="${path}" data-again="${draftForecast.kind === 'unread' ? againMs : undefined}">
        <div class="stack">
          ${refused === null ? null : html`<p class="refused" role="alert">${refused}</p>`} ${refusedFields(problems, status)}
          ${copiedNote(open)}
          ${section('columns', calledOf(draftForecast), listPart(open, { form, outlooked: draftForecast, refusedList }))}
          ${section('words', 'What people hear first', await wordsPart(request, evaluated, form))}
          ${section('calls', html`${hoursText(fields)}, up to ${fields['retry.max_attempts'] ?? '1'} calls each`, callsPart(open, form))}
          ${section('name', 'Last step', [
            partForm(open, 'name', form, html`<div class="fields">${['name', 'id'].map((name) => textField(form, name))}</div>`),
            readyList(open, { outlooked: draftForecast, problems: all, rehearsal }),
            startActions(open, { outlooked: draftForecast, isRehearsable: rehearsals.isOffered, key: randomUUID() }),
          ])}
        </div>
        ${sumPanel(draftForecast, all.length)}
      </div>`,
      html`<div class="foot-bar"><span>${sumText(draftForecast)}</span><a class="btn" href="#part-name">Check and start</a></div>`,
    ],
  };
}

/** An empty field is no mistake until the user wants to complete the part. */
function isTold({ field: at }: FieldProblem, fields: OpenDraft['fields'], asked: DraftPageState['asked']): boolean {
  if (asked === 'all' || asked === partOf(at)) return true;
  const value = fields[/^variables\.\d+$/.test(at) ? `${at}.value` : at];
  return at.startsWith('hours') || (value ?? '').trim() !== '';
}

function firstOf({ sample, fields }: OpenDraft, problems: readonly FieldProblem[]): string | undefined {
  const parts = formParts.flatMap((part) => problems.filter(({ field: at }) => partOf(at) === part));
  const at = parts[0]?.field;
  return at === undefined ? undefined : controlOf(at, { sample, fields });
}

function controlOf(at: string, { sample, fields }: Pick<OpenDraft, 'sample' | 'fields'>): string {
  if (/^variables\.\d+$/.test(at)) return `${at}.name`;
  if (!at.startsWith('list.') || fieldOf(at).part !== undefined) return at;
  return `column.${Math.max(0, sample.columns.indexOf(fields[at] ?? ''))}`;
}

function refusedFields(problems: readonly FieldProblem[], status: number): HtmlValue {
  if (status !== 422 || problems.length === 0) return null;
  const fields = [...new Set(problems.map(({ field: at }) => at))];
  return html`<div class="refused" role="alert">
    <p>Saved. ${fields.length === 1 ? 'This needs a change' : `${fields.length} things need a change`} before it can start:</p>
    <ul>
      ${fields.map((at) => html`<li><a href="#part-${partOf(at)}">${labelOf(at)}</a></li>`)}
    </ul>
  </div>`;
}

function calledOf(draftForecast: ForecastResult): HtmlValue {
  if (draftForecast.kind !== 'found') return null;
  const { dialable, rows } = draftForecast.found.report;
  return `${count(dialable)} of ${count(rows)} rows can be called`;
}

function partSection(part: FormPart, { lacking, outlooked }: { lacking: ReadonlySet<FormPart>; outlooked: ForecastResult }, detail: HtmlValue, body: HtmlValue): Html {
  const at = formParts.indexOf(part) + 1;
  const isDone = !lacking.has(part) && part !== 'name' && (part !== 'columns' || outlooked.kind !== 'refused');
  return html`<section class="panel" id="part-${part}" aria-labelledby="title-${part}">
    <header class="part-head ${isDone ? 'done' : ''}">
      <b>${isDone ? icon('check') : at}</b>
      <h2 id="title-${part}">${titles[part]}</h2>
      <p>${detail}</p>
    </header>
    <div class="pad stack">${body}</div>
  </section>`;
} // prettier-ignore

/** Copied settings that the page does not have. */
function copiedNote({ draft, copied }: OpenDraft): Html | null {
  const names = Object.keys(copied?.more ?? {});
  if (copied === undefined || names.length === 0) return null;
  const list = names.map((name, at) => html`${at === 0 ? '' : ', '}<code>${printable(name)}</code>`);
  return note('quiet', {
    title: html`Copied from ${printable(copied.campaignId)}`,
    drawing: 'copy',
    body: html`<p>Beside what this page asks, its file has ${list}. What you write here goes before it.</p>`,
    action: html`<form method="post" action="${draftPath(draft.draftId, '/plain')}"><button class="btn sm">Leave these out</button></form>`,
  });
}

function draftMenu(path: string): Html {
  return menu('More actions', [
    html`<a href="${path}/campaign.yaml" download="campaign.yaml"
      >${icon('download')} <span>Download as campaign file</span><small>For the command line</small></a
    >`,
    html`<a href="${path}/list-file" download
      >${icon('file')} <span>Download the list</span><small>With the rows that you have fixed</small></a
    >`,
    html`<hr />`,
    menuLink(`${path}/discard`, 'Discard this draft…', { drawing: 'x', small: 'Its list is deleted, too', danger: true }),
  ]);
}
