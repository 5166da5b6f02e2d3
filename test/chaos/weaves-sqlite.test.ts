import { testWeaves } from './weaves-suite.ts';

testWeaves('sqlite', { every: 8, seeds: 10 });
