import { useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

/** The colours of public/counting and public/plots. */
const COLOURS = {
  light: {
    background: '#ffffff',
    edgeLabelBackground: '#ffffff',
    primaryColor: '#eaf2fb',
    primaryBorderColor: '#0b6bb8',
    primaryTextColor: '#1f2328',
    textColor: '#1f2328',
    lineColor: '#59636e',
    noteBkgColor: '#fdf1e0',
    noteBorderColor: '#b45309',
    noteTextColor: '#1f2328'
  },
  dark: {
    darkMode: true,
    background: '#1b1b1f',
    edgeLabelBackground: '#1b1b1f',
    primaryColor: '#1d2b3a',
    primaryBorderColor: '#56b4e9',
    primaryTextColor: '#e6e6e6',
    textColor: '#e6e6e6',
    lineColor: '#a8b1bb',
    noteBkgColor: '#33271a',
    noteBorderColor: '#f0a030',
    noteTextColor: '#e6e6e6'
  }
}
/** A diagram that is narrower than the text keeps its size; a wider one shrinks to this, and then scrolls. */
const LEAST_WIDTH = 620

let drawn = 0

/** A diagram, drawn in the browser, and again where the reader changes the scheme. Without scripts, its text. */
export const MermaidDiagram = defineComponent({
  props: { source: { type: String, required: true } },
  setup (props) {
    const { isDark } = useData()
    const text = decodeURIComponent(props.source)
    const drawing = ref({ svg: '', width: 0 })

    async function draw (): Promise<void> {
      const { default: mermaid } = await import('mermaid')
      const themeVariables = COLOURS[isDark.value ? 'dark' : 'light']
      mermaid.initialize({ startOnLoad: false, theme: 'base', themeVariables, fontFamily: 'inherit' })
      const { svg } = await mermaid.render(`diagram-${++drawn}`, text)
      drawing.value = { svg, width: Number(/max-width: ([\d.]+)px/.exec(svg)?.[1] ?? 0) }
    }

    onMounted(draw)
    watch(isDark, draw)
    return () => {
      const { svg, width } = drawing.value
      if (svg === '') return h('pre', { class: 'diagram' }, text)
      const style = { '--least-width': `${Math.min(width, LEAST_WIDTH)}px` }
      return h('div', { class: 'diagram', style, innerHTML: svg })
    }
  }
})
