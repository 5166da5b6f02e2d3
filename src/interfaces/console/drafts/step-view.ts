import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { View } from '../core/view.ts';
import type { OpenDraft } from './settings.ts';
import { formSteps, stepPath, steps, type StepName } from './steps.ts';

/** One step of a draft, with the way to all others. */
export function stepView(open: OpenDraft, step: StepName, body: HtmlValue, status = 200): View {
  const { draft, done, fields } = open;
  const isDone = (name: StepName) => name === 'list' || (formSteps as readonly string[]).includes(name) && done.some((own) => own === name); // prettier-ignore
  const name = fields['id'] === undefined || fields['id'] === '' ? draft.list.name : fields['id'];
  const download = `/new/${encodeURIComponent(draft.draftId)}/campaign.yaml`;
  return {
    title: `New campaign: ${steps.find((own) => own.name === step)?.title.toLowerCase()}`,
    status,
    section: 'new',
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
