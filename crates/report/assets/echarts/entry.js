// What of ECharts a report uses. A chart type or component that is not named here is not in the bundle.
import { init, use } from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  LegendScrollComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([
  AriaComponent,
  BarChart,
  CustomChart,
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  HeatmapChart,
  LegendScrollComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  ScatterChart,
  SVGRenderer,
  TitleComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
]);

export { init };
