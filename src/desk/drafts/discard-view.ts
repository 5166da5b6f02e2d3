import { html } from '../../html/html.ts';
import { printable } from '../../input/printable.ts';
import type { View } from '../core/view.ts';
import { sizeText } from './list-step.ts';
import type { OpenDraft } from './settings.ts';
import { stepPath } from './steps.ts';

/** Asks whether a draft is to be deleted. */
export function discardView({ draft, fields }: OpenDraft): View {
  return {
    title: 'Discard this draft?',
    section: 'new',
    crumbs: [['/', 'Campaigns'], ['/new', 'New campaign']], // prettier-ignore
    body: html`<section class="panel">
      <p>
        The draft ${printable(fields['id'] ?? '')} and its list ${printable(draft.list.name)}
        (${sizeText(draft.list.bytes)}) are deleted. Nobody was called. This cannot be undone.
      </p>
      <form class="act" method="post">
        <p class="actions">
          <button class="danger">Discard the draft</button>
          <a href="${stepPath(draft.draftId, 'list')}">Back, change nothing</a>
        </p>
      </form>
    </section>`,
  };
}
