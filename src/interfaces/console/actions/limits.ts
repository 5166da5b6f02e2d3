import { adjustableTermNames, adjustableTerms, termTexts } from '../../../campaign/file/settings/adjustable.ts';
import { adjustable, meaningOf } from '../../../campaign/file/settings/pacing.ts';
import { readAccountUse, readCampaignLimits, readAccountRules } from '../../../operations/control/adjust.ts';
import { adjustableLimits, type PacingLimits } from '../../../rules/campaign-rules.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { figure, note, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readLineLimits, type LineLimits } from '../../../ledger/limits/line-limits.ts';
import type { AdjustEffect } from '../../../ledger/read/clock-strip.ts';
import { effectLines } from '../../../presentation/words/adjust-effect.ts';
import { pacingLines } from '../../../presentation/words/campaign.ts';
import type { ConsoleAction } from '../core/action.ts';
import type { FormInput } from '../core/press.ts';
import { lineField, refusedField } from '../core/fields.ts';
import { openCampaign, inCampaign } from '../core/rows.ts';
import { campaignPath } from '../core/links.ts';
import { readStatusFacts } from '../core/press.ts';

const previewButton = html`<p class="actions"><button class="btn" name="look" value="yes">See what it does</button></p>`;
const isPreview = (fields: URLSearchParams) => fields.get('look') === 'yes';

/** Current and file values, with the effect of a change on open calls and waiting recipients. */
const changeLimits: ConsoleAction = {
  path: '/campaigns/:campaign/limits',
  op: 'adjustCampaign',
  form: async ({ context, now, ...request }, given) => {
    const { campaign, campaignId, db } = await openCampaign({ context, ...request });
    const { acts, standing } = await readStatusFacts(db, campaign);
    const lines = hasEnded(campaign) ? null : await readLineLimits(db, campaign, { now });
    const effect = (given.answer?.['effect'] ?? null) as AdjustEffect | null;
    const asReal = { atReal: (at: number) => at };
    return {
      title: 'Change limits, hours and retries',
      ...inCampaign(campaign),
      back: [campaignPath(campaignId), campaignId],
      acts,
      isWide: true,
      obstacle: lines === null ? { why: 'There is nothing to change now.', status: 409 } : null,
      standing: [...standing, ...(lines === null ? [] : pacingLines(lines, asReal, now))],
      found: [lines === null ? null : html`<p>${meaning(lines)}</p>`, effect === null ? null : effectNote(effect)],
      button: 'Change',
      keep: 'Keep as it is',
      body: lines === null ? null : await limitFields(context, campaignId, given),
      tells: [...adjustableLimits, ...adjustableTermNames],
    };
  },
  call: ({ fields }) => ({
    body: { ...(fields.get('reset') === 'yes' ? { reset: true } : changedOnly(fields)), ...(isPreview(fields) ? { dryRun: true } : {}) },
  }),
  done: ({ campaignId }, answer) => {
    const { limits, effect } = answer as { limits: PacingLimits; effect: AdjustEffect | null };
    if (effect !== null) return null;
    const limitsText = adjustableLimits.map((name) => `${adjustable[name].label.toLowerCase()}: ${shown(limits[name])}`).join(', ');
    return { to: campaignPath(campaignId), said: `From the next batch on: ${limitsText}.` };
  },
};

function meaning({ open, allowed }: LineLimits): string {
  const below = open === 0 ? '' : ` A limit below ${count(open)} ends none of them: no call begins until fewer are on the line.`;
  return `A change holds from the next batch on. ${plural(open, 'call')} may be on the line now, and ${count(allowed)} are allowed.${below}`;
}

function effectNote(effect: AdjustEffect): Html {
  return note(effect.neverOpen > 0 ? 'bad' : 'quiet', {
    drawing: 'people',
    title: 'What it does to the people who wait',
    body: effectLines(effect).map((line) => html`<p>${line}</p>`),
  });
}

interface SettingRow {
  name: string;
  label: string;
  help: string;
  now: HtmlValue;
  file: HtmlValue;
  usual: string;
}

/** Sends the present values along, to detect changes. */
function settingsTable(caption: string, head: string, rows: readonly SettingRow[], given: FormInput): HtmlValue {
  const lines = rows.map(({ name, label, help, now, file, usual }) => {
    const { marks, line } = refusedField(given, name);
    const field = html`<input type="hidden" name="was-${name}" value="${given.fields?.get(`was-${name}`) ?? usual}" /><input
        name="${name}"
        autocomplete="off"
        aria-label="${label}"
        value="${given.fields?.get(name) ?? usual}"
        ${marks}
      />${line}`;
    const cells = { [head]: html`${label} <span class="soft">${help}</span>`, Now: now, 'In the file': file, Wanted: field };
    return { key: `limit-${name}`, cells };
  });
  return table(caption, lines);
}

async function limitFields(context: Parameters<typeof readCampaignLimits>[0], campaignId: string, given: FormInput): Promise<Html> {
  const { now, file } = await readCampaignLimits(context, campaignId);
  const limits = adjustableLimits.map((name): SettingRow => {
    const { label, isLiftable } = adjustable[name];
    const help = `${meaningOf(adjustable[name])}${isLiftable ? '; empty: no limit' : ''}`;
    return {
      name,
      label,
      help,
      now: figure(shown(now[name])),
      file: figure(shown(file[name])),
      usual: now[name] === null ? '' : String(now[name]),
    };
  });
  const [texts, before] = [termTexts(now), termTexts(file)];
  const terms = adjustableTermNames.map((name): SettingRow => {
    const { label, help } = adjustableTerms[name];
    return { name, label, help, now: texts[name], file: before[name], usual: texts[name] };
  });
  return html`${settingsTable('Limits', 'Limit', limits, given)} ${settingsTable('Hours and retries', 'Setting', terms, given)}
    <label
      ><input type="checkbox" name="reset" value="yes" ${given.fields?.get('reset') === 'yes' ? html`checked` : null} /> Restore what the
      campaign file says, whatever stands above</label
    >
    ${previewButton}`;
}

function shown(limit: number | null): string {
  return limit === null ? 'no limit' : count(limit);
}

/** Keeps concurrent changes of other fields. The operation refuses what is no number. */
function changedOnly(sent: URLSearchParams): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const name of [...adjustableLimits, ...adjustableTermNames]) {
    const value = sent.get(name)?.trim();
    if (value === undefined || value === sent.get(`was-${name}`)) continue;
    const limit = Object.hasOwn(adjustable, name) ? adjustable[name as keyof typeof adjustable] : null;
    if (limit !== null && value === '' && limit.isLiftable) changes[name] = null;
    else changes[name] = limit !== null && /^\d{1,9}$/.test(value) ? Number(value) : value;
  }
  return changes;
}

const place = { section: 'limits', crumbs: [['/limits', 'Limits']], back: ['/limits', 'the limits'] } as const;

const changeAccountLimits: ConsoleAction = {
  path: '/limits/change',
  op: 'adjustAccountLimits',
  form: async ({ context }, given) => {
    const { maxConcurrentCalls: most, keepFree, open, campaigns } = await readAccountUse(context);
    const written = given.fields ?? new URLSearchParams({ maxConcurrentCalls: String(most ?? ''), keepFree: String(keepFree / 10) });
    const field = (name: string, label: string, longest: number) => lineField(written, { name, label, most: longest }, given);
    return {
      ...place,
      title: 'Change what all campaigns share',
      says: `${plural(open, 'call')} of ${plural(campaigns.length, 'campaign')} ${open === 1 ? 'is' : 'are'} on the line. A change holds from the next batch on; a lower limit ends no call.`,
      button: 'Change',
      keep: 'Keep as it is',
      body: [
        field('maxConcurrentCalls', 'Calls at once, all campaigns together; empty: no limit', 7),
        field('keepFree', 'Kept free for calls of others, in percent', 4),
      ],
      tells: ['maxConcurrentCalls', 'keepFree'],
    };
  },
  call: ({ fields }) => {
    const [lines, free] = ['maxConcurrentCalls', 'keepFree'].map((name) => fields.get(name)?.trim() ?? '') as [string, string];
    const whole = /^\d+$/.test(lines) ? Number(lines) : lines;
    // Without a limit there is no part to keep free. The operation refuses what is no number.
    const keepFree = lines === '' ? {} : { keepFree: /^[\d.]+$/.test(free) ? Number(free) / 100 : free };
    return { body: { maxConcurrentCalls: lines === '' ? null : whole, ...keepFree } };
  },
  done: () => ({ to: '/limits', said: 'The limits of all campaigns hold from the next batch on.' }),
};

const changeAccountRules: ConsoleAction = {
  path: '/limits/house',
  op: 'setHouseRules',
  form: async ({ context }, { fields, refused, answer }) => {
    const { now } = await readAccountRules(context);
    return {
      ...place,
      title: 'Change the house rules',
      says: 'They hold for every campaign besides its own file, for calls that are planned, too. The stricter of the two binds.',
      found: refused === null && answer !== null ? trialNote(answer as Trial) : null,
      button: 'Set the house rules',
      keep: 'Keep them as they are',
      body: html`<label class="field"
          >House rules, as YAML; <code>{}</code> lifts them
          <textarea name="rules" rows="12" required spellcheck="false" autocomplete="off">
${fields?.get('rules') ?? now?.text ?? accountRulesExample}</textarea>
        </label>
        ${previewButton}`,
    };
  },
  call: ({ fields }) => ({ body: { rules: fields.get('rules') ?? '', ...(isPreview(fields) ? { dryRun: true } : {}) } }),
  done: ({ fields }, answer) => {
    if (isPreview(fields)) return null;
    const { changed, version, lacking } = answer as Trial & { version: number };
    const pauses = ` ${plural(lacking.length, 'campaign')} without what is required ${lacking.length === 1 ? 'pauses' : 'pause'}.`;
    const message = `Version ${version} of the house rules holds from now on.${lacking.length === 0 ? '' : pauses}`;
    return { to: '/limits', said: changed ? message : 'The house rules say so already.' };
  },
};

const accountRulesExample =
  '# caps: [{ calls: 3, within: 7d }]\n# holidays: [US]\n# caller_limits: { per_day: 80 }\n# consent: required\n{}\n';

type Trial = {
  changed: boolean;
  lacking: { campaignId: string; lacks: string[] }[];
};

function trialNote({ changed, lacking }: Trial): Html {
  const lines = lacking.map(({ campaignId, lacks }) => html`<p>${campaignId} would pause: it has no ${lacks.join(' and no ')}.</p>`);
  return note(lacking.length > 0 ? 'bad' : 'quiet', {
    title: changed ? 'Nothing is changed yet' : 'They say so already',
    body: lines.length === 0 ? html`<p>No campaign under way would pause for it.</p>` : lines,
  });
}

export const limitActions = [changeLimits, changeAccountLimits, changeAccountRules];
