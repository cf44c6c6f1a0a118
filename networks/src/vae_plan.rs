//! The variational autoencoder that a point of the VAE-NAS space describes.

use crate::{Activation, Convolution, Error, Point};

/// Side of the square images.
pub(crate) const SIDE: i64 = 28;
/// Side of what the decoder's convolutions begin with.
pub(crate) const DECODER_SIDE: i64 = 7;

/// A transposed convolution with a quadratic filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deconvolution {
    /// Input channels.
    pub channels: usize,
    /// Side of the filter.
    pub filter: usize,
    /// Stride.
    pub stride: usize,
    /// Rings taken away from the output.
    pub padding: usize,
    /// Rows and columns added at the output's end; smaller than the stride.
    pub output_padding: usize,
    /// What follows; `None` for the last one, whose output is the image.
    pub activation: Option<Activation>,
    /// Side of what comes out.
    pub side: usize,
}

/// An architecture of the VAE-NAS space, `C1-C2-FC1-FC2-L-FC3-FC4-D1-D2`; layers that are switched off are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct VaePlan {
    /// Learning rate of Adam.
    pub learning_rate: f64,
    /// Up to two convolutions in order.
    pub convolutions: Vec<Convolution>,
    /// Up to two dense layers behind them: nodes, and what follows. The first may have no nodes at all; then nothing of the image gets through.
    pub encoder: Vec<(usize, Activation)>,
    /// Size of the code.
    pub latent: usize,
    /// Up to two dense layers behind the code; the last one has the size that the transposed convolutions begin with.
    pub decoder: Vec<(usize, Activation)>,
    /// None or two transposed convolutions (one alone never ends at the size of the images).
    pub deconvolutions: Vec<Deconvolution>,
}

impl VaePlan {
    /// The network of a point. What a point says of layers that are switched off does not count.
    ///
    /// # Errors
    /// [`Error::Rule`] with the name of the rule in `examples/vae-nas.toml` that the point breaks (the first one in the order of the layers), [`Error::Point`].
    pub fn new(point: &Point) -> Result<Self, Error> {
        let learning_rate = 10.0_f64.powf(point.real("log10_lr", -4.0, -2.0)?);
        let convolutions = convolutions(point)?;
        // The size that the decoder's convolutions begin with supersedes all other sizes of the last dense layer before them, be it FC4, FC3 or the code itself.
        let channels = 1 << point.whole("dec_log2_channels1", 3, 6)?;
        let deconvolutions = deconvolutions(point, channels)?;
        let unfolded = channels * (DECODER_SIDE * DECODER_SIDE) as usize;

        let nodes = point.whole("latent", 16, 64)? as usize;
        let mut encoder = Vec::new();
        let n_encoder = point.whole("n_fc_enc", 0, 2)?;
        if n_encoder >= 1 {
            encoder.push((64 * point.whole("fc1_nodes64", 0, 15)? as usize, point.activation("fc_act1")?));
        }
        if n_encoder >= 2 {
            encoder.push((2 * nodes, point.activation("fc_act2")?));
        }
        let n_decoder = point.whole("n_fc_dec", 0, 2)?;
        let decoder = match n_decoder {
            0 => Vec::new(),
            1 => vec![(unfolded, point.activation("fc_act3")?)],
            _ => vec![(2 * nodes, point.activation("fc_act3")?), (unfolded, point.activation("fc_act4")?)],
        };
        let latent = if n_decoder == 0 { unfolded } else { nodes };
        Ok(Self { learning_rate, convolutions, encoder, latent, decoder, deconvolutions })
    }
}

fn convolutions(point: &Point) -> Result<Vec<Convolution>, Error> {
    let mut layers = Vec::new();
    let mut side = SIDE;
    for k in 1..=point.whole("n_conv", 0, 2)? {
        let whole = |name: &str, low, high| point.whole(&format!("enc_{name}{k}"), low, high);
        let (filter, stride, padding) = (whole("filter", 3, 5)?, whole("stride", 1, 2)?, whole("pad", 0, 3)?);
        let reach = side - filter + 2 * padding;
        let size = format!("({side} - {filter} + 2*{padding}) / {stride} + 1");
        if reach % stride != 0 {
            return Err(Error::rule(format!("enc_w{k} is whole"), format!("{size} is not whole")));
        }
        side = reach / stride + 1;
        if side < 1 {
            return Err(Error::rule("encoder leaves something", format!("{size} = {side}")));
        }
        layers.push(Convolution {
            channels: 1 << whole("log2_channels", k + 1, k + 4)?,
            filter: filter as usize,
            stride: stride as usize,
            padding: padding as usize,
            activation: point.activation(&format!("enc_act{k}"))?,
            pool: false,
            side: side as usize,
        });
    }
    Ok(layers)
}

fn deconvolutions(point: &Point, first_channels: usize) -> Result<Vec<Deconvolution>, Error> {
    let n = point.whole("n_deconv", 0, 2)?;
    if n == 0 && first_channels != 16 {
        let why = format!("{first_channels} channels of 7 x 7 are not 28 x 28");
        return Err(Error::rule("16 channels of 7 x 7 without deconvolution", why));
    }
    let mut layers = Vec::new();
    let mut side = DECODER_SIDE;
    let mut sizes = String::new();
    for k in 1..=n {
        let whole = |name: &str, low, high| point.whole(&format!("dec_{name}{k}"), low, high);
        let (filter, stride, padding) = (whole("filter", 3, 5)?, whole("stride", 1, 2)?, whole("pad", 0, 3)?);
        let output_padding = whole("out_pad", 0, 1)?;
        if stride <= output_padding {
            let why = format!("{output_padding} is not below {stride}");
            return Err(Error::rule(format!("output padding {k} below stride"), why));
        }
        side = stride * (side - 1) + filter - 2 * padding + output_padding;
        sizes.push_str(&format!(" -> {side}"));
        let channels = if k == 1 { first_channels } else { 1 << whole("log2_channels", 2, 5)? };
        layers.push(Deconvolution {
            channels,
            filter: filter as usize,
            stride: stride as usize,
            padding: padding as usize,
            output_padding: output_padding as usize,
            activation: if k < n { Some(point.activation(&format!("dec_act{k}"))?) } else { None },
            side: side.max(0) as usize,
        });
    }
    // An image that shrinks to nothing on the way does not end at 28 either: from 0 on, at most 2*(0 - 1) + 5 + 1.
    if n >= 1 && side != SIDE {
        return Err(Error::rule(
            "decoder ends at the image size",
            format!("{DECODER_SIDE}{sizes}, not {SIDE}"),
        ));
    }
    Ok(layers)
}
