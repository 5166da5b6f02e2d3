import { isStale } from '../../campaign-file/law-warnings.ts';
import { describePackagedRules } from '../../campaign-file/legal-rules.ts';
import { fault, ok, reasonOf, warning, type Finding } from './doctor-finding.ts';

/** The rules by law that come with the program; without them no campaign can be read. */
export async function checkLaw(nowMs: number): Promise<Finding[]> {
  const name = 'Rules by law';
  try {
    const { asOf, count } = await describePackagedRules();
    const detail = `${count} rules as of ${asOf}`;
    const advice =
      'Update Carillon, or look them up and name a file of your own in campaign files (docs/campaign-file.md).';
    return [isStale(asOf, nowMs) ? warning(name, detail, advice) : ok(name, detail)];
  } catch (error) {
    return [fault(name, reasonOf(error), 'Install Carillon again.')];
  }
}
