import { isFull } from '../support/depth.ts';
import { testReportedWeaves } from './weaves-suite.ts';

testReportedWeaves('batch-calling', 'sqlite', 4);
testReportedWeaves('campaigns', 'sqlite', 4);
if (isFull) {
  testReportedWeaves('batch-calling', 'postgres', 2);
  testReportedWeaves('campaigns', 'postgres', 2);
}
