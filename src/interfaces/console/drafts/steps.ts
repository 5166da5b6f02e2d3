import { rowFieldList } from '../../../campaign/file/row-fields.ts';
import { campaignSettings } from '../../../campaign/file/schema.ts';
import type { FormField, Setting, SettingGroup } from '../../../campaign/file/settings/setting.ts';
import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { View } from '../core/view.ts';
import type { OpenDraft } from './settings.ts';

type AskedField = FormField & Pick<Setting, 'label'>;

function* askedIn(group: SettingGroup, above = ''): Generator<[string, AskedField]> {
  for (const [key, { label, form, settings = {} }] of Object.entries(group)) {
    if (form !== undefined) yield [`${above}${key}`, { ...form, label: label ?? key }];
    yield* askedIn(settings, `${above}${key}.`);
  }
}

/** What the forms ask for, by the names of their fields: paths in the campaign file, without the places in lists. */
export const asked: ReadonlyMap<string, AskedField> = new Map(askedIn(campaignSettings));
/** The one field that is no setting: the zone in which begin and end are written. */
export const timesZone = 'times_zone';

function fieldsAsked(step: FormStep, ...more: string[]): string[] {
  return [...[...asked.keys()].filter((name) => asked.get(name)?.step === step), ...more];
}

/** What a field is called. */
export function labelOf(field: string): string {
  return asked.get(field)?.label ?? (field === timesZone ? 'Time zone of begin and end' : field);
}

/** A field as a form shows it. */
export function fieldOf(name: string) {
  return { name, ...asked.get(name), label: labelOf(name) };
}

/** What a new draft says before anybody has said anything. */
export const usualFields: Readonly<Record<string, string>> = Object.fromEntries(
  [...asked].flatMap(([name, { usual }]) => (usual === undefined ? [] : [[name, usual]])),
);

/** The steps of a new campaign, in their order, with what each may write: names of settings as the campaign file has them. */
export const steps = [
  { name: 'list', title: 'List', fields: [] },
  {
    name: 'columns',
    title: 'Columns',
    fields: fieldsAsked('columns', ...rowFieldList.map(({ key }) => `list.${key}`)),
  },
  { name: 'words', title: 'Words', fields: fieldsAsked('words', 'variables') },
  {
    name: 'calls',
    title: 'Calls',
    fields: fieldsAsked('calls', timesZone),
  },
  { name: 'check', title: 'Check', fields: [] },
] as const satisfies { name: string; title: string; fields: readonly string[] }[];

export type StepName = (typeof steps)[number]['name'];

/** Steps that a form saves. */
export type FormStep = 'columns' | 'words' | 'calls';
export const formSteps = ['columns', 'words', 'calls'] as const satisfies readonly FormStep[];

export function fieldsOf(step: StepName): readonly string[] {
  return steps.find(({ name }) => name === step)?.fields ?? [];
}

/** The step that writes a field; null: none does. */
export function stepOf(field: string): FormStep | null {
  return formSteps.find((step) => fieldsOf(step).some((own) => own === field || field.startsWith(`${own}.`))) ?? null;
}

export function stepPath(draftId: string, step: StepName): string {
  return `/new/${encodeURIComponent(draftId)}/${step}`;
}

/** One step of a draft, with the way to all others. */
export function stepView(open: OpenDraft, step: StepName, body: HtmlValue, status = 200): View {
  const { draft, done, fields } = open;
  const isDone = (name: StepName) => name === 'list' || (formSteps as readonly string[]).includes(name) && done.some((own) => own === name); // prettier-ignore
  const name = fields['id'] === undefined || fields['id'] === '' ? draft.list.name : fields['id'];
  const download = `/new/${encodeURIComponent(draft.draftId)}/campaign.yaml`;
  return {
    title: `New campaign: ${steps.find((own) => own.name === step)?.title.toLowerCase()}`,
    status,
    section: 'campaigns',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign'], [stepPath(draft.draftId, 'list'), printable(name)]], // prettier-ignore
    body: [
      html`<nav class="steps" aria-label="Steps">
        <ol>
          ${steps.map(
            (own, at) =>
              html`<li>
                <a href="${stepPath(draft.draftId, own.name)}" ${own.name === step ? html`aria-current="step"` : null}
                  ><span class="num">${at + 1}</span>
                  ${own.title}${isDone(own.name) ? html`<span class="done"> ✓<span class="hidden"> done</span></span>` : null}</a
                >
              </li>`,
          )}
        </ol>
      </nav>`,
      body,
      html`<p class="draft-foot muted">
        <a href="${download}" download="campaign.yaml">Download the campaign file</a> as it is now; <code>carillon check</code> and
        <code>carillon start</code> take it beside ${printable(draft.list.name)}. Nothing is called before you start it. A draft that nobody
        touches for 7 days is deleted with its list.
        <a href="/new/${encodeURIComponent(draft.draftId)}/discard">Discard this draft</a>
      </p>`,
    ],
  };
}
